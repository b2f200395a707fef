"""A decision as a film, in words: titles, sentences, questions and their choices."""

from __future__ import annotations

from scheduler.model.sentence import Words


class Scene(Words, prefix="film"):
    """What a frame is called, says and asks; a question never says its answer."""

    HEAD = "The head of the queue"
    LIFTED = ("film.head.said", "{name} is tried: it asks for {asked}.")
    LIFTED_IN = ("film.head.in", "{name} is the head of {queue}: it asks for {asked}.")
    ORDERED = (
        "film.heads",
        "{n} queue sends its head into this cycle.|{n} queues send their heads into this cycle.",
    )
    NOTHING = "nothing"

    # ---- Kueue
    FLAVOR = "Flavor {flavor}: {resource}"
    FLAVOR_ASK = ("film.flavor.ask", "Does {asked} fit into what {queue} may use?")
    FITS = ("film.flavor.fits", "{free} free: {asked} fits.")
    SHORT = ("film.flavor.short", "{free} free: {asked} does not fit.")
    PREEMPT = (
        "film.flavor.preempt",
        "{free} free: {asked} does not fit, but it may preempt.",
    )
    BARRED = ("film.flavor.barred", "The flavor is left out: {reason}.")
    UNTRIED = ("film.flavor.untried", "An earlier flavor was good enough.")
    UNCOVERED = ("film.flavor.uncovered", "{queue} has no quota of {resource}.")
    YES = "It fits"
    NO = "It does not fit"
    WHO = "Who may be a candidate"
    WHO_SAID = ("film.who.said", "{asked} needed: {who}.")
    SOURCE = "{n} candidate of {holders} in {queue} ({policy})|{n} candidates of {holders} in {queue} ({policy})"
    SOURCE_NONE = ("film.source.none", "nobody in {queue} ({why})")
    NOBODY = "no candidate anywhere"
    BORROWING = "Try with borrowing"
    WITHIN = "Try without borrowing"
    MAY_BORROW = ("film.borrowing.said", "The preemptor may borrow.")
    STAYS_WITHIN = (
        "film.within.said",
        "The preemptor has to stay within its nominal quota.",
    )
    ROUND = "Strategy {rule}"
    ROUND_FIRST = ("film.round.first", "Shares are compared by {rule}.")
    ROUND_AGAIN = (
        "film.round.again",
        "Those refused are asked once more, by {rule}, one of each queue.",
    )
    ROUND_WITHIN = ("film.round.within", "Reclaim")
    ROUND_WITHIN_SAID = (
        "film.round.within.said",
        "With its request the preemptor stays within nominal quota: it reclaims, and no "
        "shares are compared.",
    )
    TURN = "{queue} is asked"
    TURN_SAID = ("film.turn.said", "{queue} has candidates.")
    TURN_HIGHEST = ("film.turn.highest", "{queue} has the highest share left, {share}.")
    TURN_OWN = (
        "film.turn.own",
        "{queue}, the preemptor's own queue, has the highest share left, {share}.",
    )
    CANDIDATE = "Candidate {number}, {name}"
    CANDIDATE_ASK = ("film.candidate.ask", "May {name} be preempted?")
    GOES = ("film.candidate.goes", "It goes")
    STAYS = ("film.candidate.stays", "It stays")
    TAKEN_FITS = (
        "film.candidate.fits",
        "{name} is taken ({reason}). It frees {held}: now the preemptor fits.",
    )
    TAKEN = (
        "film.candidate.more",
        "{name} is taken ({reason}). It frees {held}: not enough yet.",
    )
    REFUSED = ("film.candidate.refused", "The test does not hold: {name} is refused.")
    SKIPPED = (
        "film.candidate.skipped",
        "{name} is skipped: its queue has nothing left to give back.",
    )
    NO_OTHERS = (
        "film.candidate.noOthers",
        "While borrowing nobody of another queue may be preempted: {name} is refused.",
    )
    PUT_BACK = "Fill back, {name}"
    PUT_BACK_ASK = (
        "film.putBack.ask",
        "{name} is put back. Does the preemptor still fit?",
    )
    SPARED = ("film.putBack.spared", "It still fits: {name} keeps running.")
    NEEDED = ("film.putBack.needed", "It does not fit: {name} stays a target.")
    FAILED = "Not enough"
    FAILED_SAID = (
        "film.failed.said",
        "Everybody who may go is not enough; the search puts all back.",
    )
    MORE = "{n} more step of this kind follows; it is not shown one by one.|{n} more steps of this kind follow; they are not shown one by one."
    MORE_TITLE = ("film.more.title", "And so on")
    LEVEL = "Topology: {level}"
    LEVEL_ASK = ("film.level.ask", "Is there a place for {pods} below one of these?")
    LEVEL_YES = ("film.level.yes", "{domains}: the places that are taken.")
    LEVEL_NO = ("film.level.no", "None has places for {pods}.")
    ONE_PLACE = ("film.level.one", "There is")
    NO_PLACE = ("film.level.none", "There is not")
    VERDICT = "The verdict"
    VERDICT_ASK = ("film.verdict.ask", "What does the cycle decide about {name}?")
    ADMITTED = ("film.verdict.admitted", "{name} gets its quota.")
    PREEMPTING = (
        "film.verdict.preempting",
        "{names} must go; {name} waits for what they hold.",
    )
    WAITING = ("film.verdict.waiting", "{name} goes back and waits: {message}")
    IS_ADMITTED = ("film.choice.admitted", "It gets its quota")
    PREEMPTS = ("film.choice.preempts", "It preempts")
    WAITS = ("film.choice.waits", "It waits")

    # ---- kube-scheduler
    FILTER = "Filter: {node}"
    FILTER_ASK = ("film.filter.ask", "Does {node} pass the filters?")
    PASSES = ("film.filter.passes", "Every filter lets {node} pass.")
    REJECTS = ("film.filter.rejects", "{plugin} refuses {node}: {why}.")
    PASS = ("film.choice.pass", "It passes")
    REJECT = ("film.choice.reject", "It is refused")
    OTHERS = ("film.filter.others", "The other nodes")
    OTHERS_SAID = (
        "film.filter.others.said",
        "{n} more node is filtered; {passed} pass.|{n} more nodes are filtered; {passed} pass.",
    )
    PRE_FILTER = "PreFilter"
    PRE_FILTER_SAID = ("film.preFilter.said", "No node is looked at. {why}")
    SCORE = "Score: {plugin} × {weight}"
    SCORE_SAID = (
        "film.score.said",
        "{plugin} gives each node 0 to 100, which count {weight} times.",
    )
    SCORE_ONE = ("film.score.one", "One node is left")
    SCORE_ONE_SAID = (
        "film.score.one.said",
        "One node passed the filters: nothing is scored.",
    )
    NOMINATED = "The nominated node"
    NOMINATED_SAID = (
        "film.nominated.said",
        "It was nominated to {node} after its preemption there, and {node} passes: no other is scored.",
    )
    WHICH = "Which node?"
    WHICH_ASK = ("film.which.ask", "Which node does {name} get?")
    BEST = "{node} has the most points."
    DRAWN = "{nodes} have the most points; {node} is drawn by the seed."
    CHOSEN = "{node} is chosen."
    NO_NODE = "No node takes {name}: it waits."
    PERMIT = "Permit: {plugin}"
    PERMIT_ASK = ("film.permit.ask", "Is its gang complete?")
    COMPLETE = ("film.permit.complete", "The gang is complete")
    INCOMPLETE = ("film.permit.incomplete", "It waits for more")
    PERMIT_OK = ("film.permit.ok", "Enough members have a node: all of them may bind.")
    PERMIT_WAITS = (
        "film.permit.waits",
        "{name} holds its place on {node} and waits for the others of its gang.",
    )
    PERMIT_REFUSED = ("film.permit.refused", "{plugin} refuses: {why}")
    BOUND = "{name} lands on {node}."
    LANDS = "On its node"

    # ---- preemption of pods
    ROOM = "Where room could be made"
    ROOM_SAID = (
        "film.room.said",
        "No node takes it as it is. Removing pods may help on {n} of {all} nodes.",
    )
    ROOM_QUEUE = (
        "film.room.queue",
        "Pods of other queues may go while {queue} stays within its guarantee.",
    )
    ROOM_NODE = ("film.room.node", "{node} is the one node where it must run.")
    NODE = "Node {node}"
    DRY_RUN = (
        "film.node.dryRun",
        "All pods of lower priority leave a copy of the node. Then each is put back, those "
        "that a budget protects first, while the preemptor still fits.",
    )
    TRIES = (
        "film.node.tries",
        "Short of {missing}. Candidates are taken in this order until enough is free.",
    )
    OFF = ("film.pod.off", "{name} leaves the copy: {held} free.")
    BACK_ASK = (
        "film.pod.back.ask",
        "{name} is put back. Does the preemptor still fit?",
    )
    POD_SPARED = ("film.pod.spared", "It still fits: {name} keeps running.")
    POD_NEEDED = (
        "film.pod.needed",
        "It does not fit ({why}): {name} would be a victim.",
    )
    BUDGET = (
        "film.pod.budget",
        "{name} is put back first, for {budgets} allows no disruption. Does the preemptor "
        "still fit?",
    )
    POD_ASK = ("film.pod.ask", "Would {name} go?")
    POD_TAKEN = ("film.pod.taken", "{name} frees {held}, and that is needed.")
    POD_ENOUGH = ("film.pod.enough", "Enough is free without {name}: it keeps running.")
    POD_NO_HELP = ("film.pod.noHelp", "{name} holds nothing that is short.")
    POD_GUARANTEED = (
        "film.pod.guaranteed",
        "Without {name} {queue} would be below its guarantee: it stays.",
    )
    POD_OVER = (
        "film.pod.over",
        "With what {name} holds the preemptor's queue would pass its own guarantee: the "
        "search on this node ends.",
    )
    RESULT = "{node}: what it comes to"
    RESULT_GOES = (
        "film.result.goes",
        "{n} pod would go from here: {names}.|{n} pods would go from here: {names}.",
    )
    RESULT_NOT = ("film.result.not", "{node} is out: {why}.")
    NOT_ENOUGH = ("film.result.notEnough", "there is no room even so")
    NOBODY_GOES = ("film.result.nobody", "nobody may go")
    WAS_REFUSED = ("film.result.refused", "it is refused")
    RULE = "Rule: {rule}"
    RULE_ASK = ("film.rule.ask", "{rule}: which node costs least?")
    RULE_LEFT = ("film.rule.left", "The lowest: {left}. Out: {out}.")
    RULE_EQUAL = (
        "film.rule.equal",
        "Equal for all that are left: the next rule decides.",
    )
    DRAW = "Equal in all rules"
    DRAW_SEED = ("film.draw.seed", "{node} is drawn, by the seed.")
    DRAW_ORDER = ("film.draw.order", "{node} was looked at first.")
    VICTIMS = "The victims"
    VICTIMS_ASK = ("film.victims.ask", "From which node do pods go?")
    LEAVE = ("film.victims.leave", "{names} must leave {node}; {name} waits for it.")

    # ---- YuniKorn
    ORDER = "Order below {name}"
    ORDER_QUEUES = (
        "film.order.queues",
        "Queues that wait, by priority and then by the share that they use of their guarantee: {first} is visited first.",
    )
    ORDER_APPS = (
        "film.order.applications",
        "Applications of {name} in the order of its sort policy: {first} is visited first.",
    )
    ORDER_ASKS = (
        "film.order.asks",
        "Pods of {name} in the order of priority and creation: {first} is tried first.",
    )
    ORDER_ASK = ("film.order.ask", "Who is visited first below {name}?")
    HEADROOM = "Headroom of {queue}"
    HEADROOM_ASK = ("film.headroom.ask", "Does {asked} fit below the quota of {queue}?")
    HEADROOM_YES = ("film.headroom.yes", "{left} is left: it fits.")
    HEADROOM_NO = ("film.headroom.no", "{left} is left: it does not fit.")
    USER = "Quota of its user"
    USER_NO = ("film.user.no", "Its user has not enough left.")
    USER_YES = ("film.user.yes", "Its user has enough left.")
    NODE_ASK = ("film.node.ask", "Does {node} take it?")
    NODE_YES = (
        "film.node.yes",
        "{node} is the first in the order of nodes that takes it.",
    )
    NODE_NO = ("film.node.no", "{node} does not take it: {why}.")
    TAKES = ("film.choice.takes", "It takes it")
    NOT_TAKES = ("film.choice.notTakes", "It does not")
    YUNIKORN_WAITS = ("film.yunikorn.waits", "{name} waits. {message}")


class BarLabel(Words, prefix="film.label"):
    """What stands at one side of an inequality."""

    ASKED = "asked"
    FREE = "free"
    OURS = "share of {name} with it"
    THEIRS_BEFORE = "share of {name} as it is"
    THEIRS_AFTER = "share of {name} without the victim"
    PRIORITY = "its priority"
    BELOW = "priority it has to be below"
    USES = "{name} uses"
    QUOTA = "quota of {name}"
    PLACES = "places in {name}"
    NEEDED = "needed"
    MEMBERS = "members with a node"
    MINIMUM = "members needed"


class CostRule(Words, prefix="film.rule"):
    """By what nodes are compared when pods have to go."""

    VIOLATIONS = "victims that a budget protects"
    HIGHEST = ("film.rule.highestPriority", "highest priority of a victim")
    SUM = ("film.rule.prioritySum", "sum of priorities + 2³¹ each")
    VICTIMS = "number of victims"
    START = ("film.rule.latestStart", "the most important victim started last")
    OPTED_OUT = "opted out of preemption"
    ORIGINATORS = "drives its application"


class WhyNobody(Words, prefix="film.why"):
    """Why nobody of a queue may go."""

    NEVER = ("film.why.reclaimNever", "reclaimWithinCohort is Never")
    WITHIN = ("film.why.withinNominal", "within its nominal quota")
    INACTIVE = "the ClusterQueue is not active"
    NONE = ("film.why.borrowsNone", "borrows none of it")
