"""A decision as a film, in words: titles, sentences, questions and their choices."""

from __future__ import annotations

from scheduler.model.sentence import Words


class Scene(Words):
    """What a frame is called, says and asks; a question never says its answer."""

    HEAD = ("film.head", "The head of the queue")
    LIFTED = ("film.head.said", "{name} is tried: it asks for {asked}.")
    LIFTED_IN = ("film.head.in", "{name} is the head of {queue}: it asks for {asked}.")
    ORDERED = (
        "film.heads",
        "{n} queue sends its head into this cycle.|{n} queues send their heads into this cycle.",
    )
    NOTHING = ("film.nothing", "nothing")

    # ---- Kueue
    FLAVOR = ("film.flavor", "Flavor {flavor}: {resource}")
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
    YES = ("film.yes", "It fits")
    NO = ("film.no", "It does not fit")
    WHO = ("film.who", "Who may be a candidate")
    WHO_SAID = ("film.who.said", "{asked} needed: {who}.")
    SOURCE = (
        "film.source",
        "{n} candidate of {holders} in {queue} ({policy})|{n} candidates of {holders} in {queue} ({policy})",
    )
    SOURCE_NONE = ("film.source.none", "nobody in {queue} ({why})")
    NOBODY = ("film.nobody", "no candidate anywhere")
    BORROWING = ("film.borrowing", "Try with borrowing")
    WITHIN = ("film.within", "Try without borrowing")
    MAY_BORROW = ("film.borrowing.said", "The preemptor may borrow.")
    STAYS_WITHIN = (
        "film.within.said",
        "The preemptor has to stay within its nominal quota.",
    )
    ROUND = ("film.round", "Strategy {rule}")
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
    TURN = ("film.turn", "{queue} is asked")
    TURN_SAID = ("film.turn.said", "{queue} has candidates.")
    TURN_HIGHEST = ("film.turn.highest", "{queue} has the highest share left, {share}.")
    TURN_OWN = (
        "film.turn.own",
        "{queue}, the preemptor's own queue, has the highest share left, {share}.",
    )
    CANDIDATE = ("film.candidate", "Candidate {number}, {name}")
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
    PUT_BACK = ("film.putBack", "Fill back, {name}")
    PUT_BACK_ASK = (
        "film.putBack.ask",
        "{name} is put back. Does the preemptor still fit?",
    )
    SPARED = ("film.putBack.spared", "It still fits: {name} keeps running.")
    NEEDED = ("film.putBack.needed", "It does not fit: {name} stays a target.")
    FAILED = ("film.failed", "Not enough")
    FAILED_SAID = (
        "film.failed.said",
        "Everybody who may go is not enough; the search puts all back.",
    )
    MORE = (
        "film.more",
        "{n} more step of this kind follows; it is not shown one by one.|{n} more steps of this kind follow; they are not shown one by one.",
    )
    MORE_TITLE = ("film.more.title", "And so on")
    LEVEL = ("film.level", "Topology: {level}")
    LEVEL_ASK = ("film.level.ask", "Is there a place for {pods} below one of these?")
    LEVEL_YES = ("film.level.yes", "{domains}: the places that are taken.")
    LEVEL_NO = ("film.level.no", "None has places for {pods}.")
    ONE_PLACE = ("film.level.one", "There is")
    NO_PLACE = ("film.level.none", "There is not")
    VERDICT = ("film.verdict", "The verdict")
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
    FILTER = ("film.filter", "Filter: {node}")
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
    PRE_FILTER = ("film.preFilter", "PreFilter")
    PRE_FILTER_SAID = ("film.preFilter.said", "No node is looked at. {why}")
    SCORE = ("film.score", "Score: {plugin} × {weight}")
    SCORE_SAID = (
        "film.score.said",
        "{plugin} gives each node 0 to 100, which count {weight} times.",
    )
    SCORE_ONE = ("film.score.one", "One node is left")
    SCORE_ONE_SAID = (
        "film.score.one.said",
        "One node passed the filters: nothing is scored.",
    )
    NOMINATED = ("film.nominated", "The nominated node")
    NOMINATED_SAID = (
        "film.nominated.said",
        "It was nominated to {node} after its preemption there, and {node} passes: no other is scored.",
    )
    WHICH = ("film.which", "Which node?")
    WHICH_ASK = ("film.which.ask", "Which node does {name} get?")
    BEST = ("film.best", "{node} has the most points.")
    DRAWN = ("film.drawn", "{nodes} have the most points; {node} is drawn by the seed.")
    CHOSEN = ("film.chosen", "{node} is chosen.")
    NO_NODE = ("film.noNode", "No node takes {name}: it waits.")
    PERMIT = ("film.permit", "Permit: {plugin}")
    PERMIT_ASK = ("film.permit.ask", "Is its gang complete?")
    COMPLETE = ("film.permit.complete", "The gang is complete")
    INCOMPLETE = ("film.permit.incomplete", "It waits for more")
    PERMIT_OK = ("film.permit.ok", "Enough members have a node: all of them may bind.")
    PERMIT_WAITS = (
        "film.permit.waits",
        "{name} holds its place on {node} and waits for the others of its gang.",
    )
    PERMIT_REFUSED = ("film.permit.refused", "{plugin} refuses: {why}")
    BOUND = ("film.bound", "{name} lands on {node}.")
    LANDS = ("film.lands", "On its node")

    # ---- preemption of pods
    ROOM = ("film.room", "Where room could be made")
    ROOM_SAID = (
        "film.room.said",
        "No node takes it as it is. Removing pods may help on {n} of {all} nodes.",
    )
    ROOM_QUEUE = (
        "film.room.queue",
        "Pods of other queues may go while {queue} stays within its guarantee.",
    )
    ROOM_NODE = ("film.room.node", "{node} is the one node where it must run.")
    NODE = ("film.node", "Node {node}")
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
    RESULT = ("film.result", "{node}: what it comes to")
    RESULT_GOES = (
        "film.result.goes",
        "{n} pod would go from here: {names}.|{n} pods would go from here: {names}.",
    )
    RESULT_NOT = ("film.result.not", "{node} is out: {why}.")
    NOT_ENOUGH = ("film.result.notEnough", "there is no room even so")
    NOBODY_GOES = ("film.result.nobody", "nobody may go")
    WAS_REFUSED = ("film.result.refused", "it is refused")
    RULE = ("film.rule", "Rule: {rule}")
    RULE_ASK = ("film.rule.ask", "{rule}: which node costs least?")
    RULE_LEFT = ("film.rule.left", "The lowest: {left}. Out: {out}.")
    RULE_EQUAL = (
        "film.rule.equal",
        "Equal for all that are left: the next rule decides.",
    )
    DRAW = ("film.draw", "Equal in all rules")
    DRAW_SEED = ("film.draw.seed", "{node} is drawn, by the seed.")
    DRAW_ORDER = ("film.draw.order", "{node} was looked at first.")
    VICTIMS = ("film.victims", "The victims")
    VICTIMS_ASK = ("film.victims.ask", "From which node do pods go?")
    LEAVE = ("film.victims.leave", "{names} must leave {node}; {name} waits for it.")

    # ---- YuniKorn
    ORDER = ("film.order", "Order below {name}")
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
    HEADROOM = ("film.headroom", "Headroom of {queue}")
    HEADROOM_ASK = ("film.headroom.ask", "Does {asked} fit below the quota of {queue}?")
    HEADROOM_YES = ("film.headroom.yes", "{left} is left: it fits.")
    HEADROOM_NO = ("film.headroom.no", "{left} is left: it does not fit.")
    USER = ("film.user", "Quota of its user")
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


class BarLabel(Words):
    """What stands at one side of an inequality."""

    ASKED = ("film.label.asked", "asked")
    FREE = ("film.label.free", "free")
    OURS = ("film.label.ours", "share of {name} with it")
    THEIRS_BEFORE = ("film.label.theirsBefore", "share of {name} as it is")
    THEIRS_AFTER = ("film.label.theirsAfter", "share of {name} without the victim")
    PRIORITY = ("film.label.priority", "its priority")
    BELOW = ("film.label.below", "priority it has to be below")
    USES = ("film.label.uses", "{name} uses")
    QUOTA = ("film.label.quota", "quota of {name}")
    PLACES = ("film.label.places", "places in {name}")
    NEEDED = ("film.label.needed", "needed")
    MEMBERS = ("film.label.members", "members with a node")
    MINIMUM = ("film.label.minimum", "members needed")


class CostRule(Words):
    """By what nodes are compared when pods have to go."""

    VIOLATIONS = ("film.rule.violations", "victims that a budget protects")
    HIGHEST = ("film.rule.highestPriority", "highest priority of a victim")
    SUM = ("film.rule.prioritySum", "sum of priorities + 2³¹ each")
    VICTIMS = ("film.rule.victims", "number of victims")
    START = ("film.rule.latestStart", "the most important victim started last")
    OPTED_OUT = ("film.rule.optedOut", "opted out of preemption")
    ORIGINATORS = ("film.rule.originators", "drives its application")


class WhyNobody(Words):
    """Why nobody of a queue may go."""

    NEVER = ("film.why.reclaimNever", "reclaimWithinCohort is Never")
    WITHIN = ("film.why.withinNominal", "within its nominal quota")
    INACTIVE = ("film.why.inactive", "the ClusterQueue is not active")
    NONE = ("film.why.borrowsNone", "borrows none of it")
