// Every setting that can be found by typing: of each queue, and of the policy; and what is said of a word.

import { hrefOf, go } from "@/lib/address.svelte";
import { t } from "@/lib/words.svelte";
import { changeText } from "@/store/edits/changes";
import { QUEUE_SWITCHES } from "@/store/edits/fields";
import { whatIf } from "@/store/edits/whatIf.svelte";
import { live } from "@/store/live/live.svelte";
import { settingText } from "@/store/policy/changes";
import { FAIR_WORDS, fairSharingOf, fairSharingPatch, type FairSharing } from "@/store/policy/fairSharing";
import { patchAt } from "@/store/policy/paths";
import { fetchRegistry, patchPolicy, POLICY } from "@/store/policy/policy";
import { served } from "@/store/policy/served.svelte";
import { choicesOf, setSwitch, valueOf } from "@/store/policy/queueSwitches";
import { groupsOf } from "@/store/policy/switches";
import { TERMS } from "@/store/policy/terms";

export interface Choice {
  readonly label: string;
  readonly now: boolean;
  readonly take: () => void;
}
export interface Setting {
  readonly id: string;
  readonly label: string;
  readonly of: string; // the queue, or the part of the policy
  readonly value: string;
  readonly found: string; // what it is found by, in small letters
  readonly choices: readonly Choice[]; // none: it is typed in its form
  readonly open: () => void; // its form
}

const found = (...parts: readonly string[]): string => parts.join(" ").toLowerCase();

/** Return every setting of the shown world, as the open what-if has it: of queues first. O(queues). */
export function allSettings(): Setting[] {
  void fetchRegistry().catch(() => null); // their values are filled in when it is here
  const document = whatIf.with(POLICY, live.shown.all("Policy")[0]?.document ?? {});
  const open = (more: Readonly<Record<string, string>>) => () => go(hrefOf(live.id ?? "", "what-if", more));
  const queues = live.shown.all("ClusterQueue").flatMap((row) => QUEUE_SWITCHES.map((one): Setting => {
    const value = valueOf(one, row);
    return {
      id: `${row.key} ${one.path}`, label: t(one.word), of: row.name, value, found: found(t(one.word), row.name, one.path, ...one.choices), open: open({ sel: row.key }),
      choices: choicesOf(one, row).map((choice) => ({ label: choice, now: choice === value, take: () => void setSwitch(one, row, choice) })),
    };
  }));
  const fair = fairSharingOf(document);
  const sharing: Setting[] = live.stack !== "kueue" ? [] : [{
    id: "fair", label: t("switch.fair"), of: t("group.between"), value: t(FAIR_WORDS[fair]), found: found(t("switch.fair"), t("help.fair"), "kueue.fairSharing preemptionStrategies"), open: open({ switch: "kueue.fairSharing" }),
    choices: (Object.keys(FAIR_WORDS) as FairSharing[]).map((choice) => ({ label: t(FAIR_WORDS[choice]), now: choice === fair, take: () => void patchPolicy(fairSharingPatch(document, choice), [changeText(t("switch.fair"), t(FAIR_WORDS[fair]), t(FAIR_WORDS[choice]))]) })),
  }];
  const switches = groupsOf(live.stack).flatMap((group) => group.switches.map((one): Setting => {
    const [value, input] = [served.valueOf(one, document), served.inputOf(one)];
    const values: readonly unknown[] = input.kind === "flag" ? [true, false] : input.choices;
    const take = (next: unknown) => () => void patchPolicy(patchAt(one.path, next), [changeText(t(one.word), settingText(value), settingText(next))]);
    return {
      id: one.path, label: t(one.word), of: t(group.word), value: settingText(value), found: found(t(one.word), t(one.help), one.path), open: open({ switch: one.path }),
      choices: values.map((next) => ({ label: settingText(next), now: next === value, take: take(next) })),
    };
  }));
  return [...queues, ...sharing, ...switches];
}

export { allRecipes } from "@/store/policy/recipes";

/** Return each word of the field with what it means. */
export function allTerms(): { readonly name: string; readonly said: string }[] {
  return TERMS.map(([name, word, source]) => ({ name, said: `${t(word)} (${source})` }));
}
