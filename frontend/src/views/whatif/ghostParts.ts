// What draws the other side of a pair within other views; loaded as one by `ghosts.svelte.ts`.

export { default as BarGhost } from "@/views/whatif/BarGhost.svelte";
export { default as Both } from "@/views/whatif/Both.svelte";
export { default as CardMark } from "@/views/whatif/CardMark.svelte";
export { default as GhostCards } from "@/views/whatif/GhostCards.svelte";
export { default as GhostLegend } from "@/views/whatif/GhostLegend.svelte";
export { default as GhostTimeline } from "@/views/whatif/GhostTimeline.svelte";
export { default as LifeBars } from "@/views/whatif/LifeBars.svelte";
export { default as NodeGhost } from "@/views/whatif/NodeGhost.svelte";
