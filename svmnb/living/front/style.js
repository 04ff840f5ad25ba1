// ---- the element.
const STYLE = `
:host { --u: max(1rem, 16px); display: block; position: relative; margin: 1.2em 0; font: 15px/1.45 ${sans}; color: var(--ink); container-type: inline-size; }
.early { position: absolute; inset: 0 0 auto; visibility: hidden; }
:host([hidden]), [hidden] { display: none !important; }
* { box-sizing: border-box; }
.title { font-weight: 600; font-size: calc(1.0625 * var(--u)); margin: 0; text-wrap: balance; }
.sub, .proof { margin: .15em 0 0; color: var(--soft); font-size: calc(.875 * var(--u)); font-variant-numeric: tabular-nums; }
.proof b { font-weight: 600; color: var(--ink); }
.key { display: flex; flex-wrap: wrap; gap: .1em 1.1em; margin: .5em 0 .3em; padding: 0; list-style: none; color: var(--soft); font-size: calc(.8125 * var(--u)); }
.key svg { width: 1.25em; height: 1.25em; vertical-align: -.3em; margin-right: .35em; overflow: visible; }
.body { display: grid; grid-template-columns: minmax(0, 1fr); gap: .6em 1.6em; align-items: start; }
@container (min-width: 760px) { .body { grid-template-columns: minmax(0, 1fr) calc(15.5 * var(--u)); } }
@container (min-width: 980px) { .body:has(.pinned) { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) calc(15.5 * var(--u)); } }
@container (min-width: 760px) and (max-width: 979px) { .beside { grid-column: 1; } .side { grid-row: 1 / 3; grid-column: 2; } }
.plot { position: relative; }
.plot canvas { display: block; width: 100%; }
.plot > svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: hidden; }
.plot.draw > svg { cursor: crosshair; touch-action: none; }
.point { cursor: grab; touch-action: none; outline: none; }
.point .reach { fill: transparent; stroke: none; }
.point .mark { stroke: var(--page); stroke-width: 1; }
.point.pos .mark { fill: var(--pos); }
.point.neg .mark { fill: var(--neg); }
${[0, 1, 2, 3, 4, 5, 6, 7].map(k => '.point.class' + k + ' .mark { fill: var(--series' + k + '); }').join('\n')}
.point.one .mark { fill: var(--neg); }
.point .ring { fill: none; stroke: none; }
.point.free .ring { stroke: var(--ink); stroke-width: 2.2; }
.point.bound .ring { stroke: var(--soft); stroke-width: 1.6; }
.point .cross { display: none; stroke: var(--bad); stroke-width: 2; fill: none; }
.point.wrong .cross { display: inline; }
.point .focus { display: none; fill: none; stroke: var(--accent); stroke-width: 3; }
.point:focus .focus, .point.held .focus { display: inline; }
.point.held { cursor: grabbing; }
.tip { position: absolute; z-index: 2; pointer-events: none; max-width: 17em; background: var(--page); color: var(--ink); border: 1px solid var(--axis); border-radius: 6px; padding: .35em .7em; font-size: calc(.8125 * var(--u)); box-shadow: 0 3px 14px rgba(0,0,0,.18); font-variant-numeric: tabular-nums; }
.tip p { margin: 0; }
.hint { position: absolute; right: 10px; top: 8px; margin: 0; padding: .15em .7em; border-radius: 99px; background: var(--page); color: var(--ink); border: 1px solid var(--line); font-size: calc(.8125 * var(--u)); pointer-events: none; }
.hint.bad { color: var(--bad); max-width: 70%; border-radius: 8px; }
.side { display: grid; gap: .75em; align-content: start; font-size: calc(.875 * var(--u)); }
@container (max-width: 759px) { .side { grid-template-columns: repeat(auto-fill, minmax(min(100%, calc(11 * var(--u))), 1fr)); } }
label.dial { display: grid; grid-template-columns: 1fr auto; gap: .1em .6em; }
label.dial .value { font-variant-numeric: tabular-nums; color: var(--soft); }
label.dial input { grid-column: 1 / -1; width: 100%; margin: 0; accent-color: var(--accent); min-height: calc(1.5 * var(--u)); }
label.choice { display: grid; gap: .2em; }
label.check { display: flex; gap: .5em; align-items: center; min-height: calc(1.5 * var(--u)); }
label.check input { accent-color: var(--accent); width: calc(1.05 * var(--u)); height: calc(1.05 * var(--u)); margin: 0; }
select, button, textarea { font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 7px; padding: .3em .65em; min-height: calc(2 * var(--u)); }
select { width: 100%; }
button { cursor: pointer; }
button:hover:not(:disabled) { border-color: var(--axis); }
button:disabled { color: var(--soft); opacity: .55; cursor: default; }
button[aria-pressed=true] { background: var(--ink); color: var(--page); border-color: var(--ink); }
:is(button, select, input, textarea, summary):focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
.row { display: flex; flex-wrap: wrap; gap: .35em; align-items: center; }
.bar { margin-top: .6em; font-size: calc(.875 * var(--u)); }
.bar .group { display: flex; flex-wrap: wrap; gap: .3em; padding-right: .5em; }
.run { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .2em .9em; align-items: center; margin-top: .5em; font-size: calc(.875 * var(--u)); }
.run input { width: 100%; accent-color: var(--accent); margin: 0; min-height: calc(1.5 * var(--u)); }
.run .gap { grid-column: 1 / -1; height: 78px; width: 100%; overflow: visible; }
.run output { color: var(--soft); font-variant-numeric: tabular-nums; }
.run .at { grid-column: 1 / -1; margin: 0; color: var(--soft); font-variant-numeric: tabular-nums; }
.icon { display: inline-grid; place-items: center; min-width: calc(2.2 * var(--u)); padding: .3em .4em; }
.code { position: relative; margin: .6em 0 0; padding: .7em .9em; background: var(--card); border-radius: 8px; overflow-x: auto; font: calc(.8125 * var(--u))/1.5 ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; max-height: 12em; tab-size: 4; }
details { margin-top: .5em; font-size: calc(.875 * var(--u)); }
summary { cursor: pointer; color: var(--soft); min-height: calc(1.5 * var(--u)); }
textarea { width: 100%; min-height: 5.5em; font: calc(.8125 * var(--u))/1.4 ui-monospace, monospace; }
.pinned { margin: 0 0 .8em; }
.pinned img { max-width: 100%; height: auto; display: block; border: 1px solid var(--line); border-radius: 8px; }
.pinned p { margin: .3em 0; color: var(--soft); font-size: calc(.875 * var(--u)); }
table { border-collapse: collapse; margin: .5em 0; font-size: calc(.8125 * var(--u)); font-variant-numeric: tabular-nums; }
th, td { padding: .2em .8em .2em 0; text-align: right; border-bottom: 1px solid var(--line); font-weight: 400; }
th:first-child { text-align: left; }
thead th { color: var(--soft); }
.swatch { display: inline-block; width: .8em; height: .8em; border-radius: 3px; margin-right: .5em; }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media print { .side, .bar, .run, .hint, details { display: none; } }
`;
const KEY = { // the legend of each task
  classify: [['neg', 0], ['pos', 1], ['free', 'free support vector'], ['bound', 'at the bound'], ['wrong', 'error'], ['zero', 'f = 0'], ['one', 'f = ±1']],
  twonorm: [['neg', 0], ['pos', 1], ['free', 'support vector'], ['wrong', 'error'], ['zero', 'f = 0'], ['one', 'f = ±1']],
  oneclass: [['pos', 'point'], ['free', 'free support vector'], ['bound', 'at the bound'], ['wrong', 'outside'], ['zero', 'f = 0']],
  regress: [['neg', 'inside the tube'], ['free', 'on its edge'], ['bound', 'outside: at the bound'], ['zero', 'f'], ['one', 'f ± ε']],
  process: [['neg', 'point'], ['zero', 'mean'], ['band', 'mean ± 2 standard deviations']]
};
KEY.nu = KEY.classify;
KEY.hard = [['neg', 0], ['pos', 1], ['free', 'support vector'], ['zero', 'f = 0'], ['one', 'f = ±1']];
KEY.nuregress = KEY.regress;
KEY.squared = [['neg', 'point'], ['free', 'support vector'], ['zero', 'f'], ['one', 'f ± ε']];
function keyOf(s) {
  if (!s.scheme) return isRidge(s) ? KEY.squared.slice(0, 3) : KEY[s.task];
  return s.classes.map((name, k) => ['class' + k, k]).concat([['free', 'support vector'], ['wrong', 'error'], ['zero', 'boundary']], s.scheme === 'rest' ? [] : [['one', 'wins by 1']]);
}
const TOOLS = [['move', 'Move', 'drag points'], ['pos', 'Add ◆', 'place points of the second class'], ['neg', 'Add ●', 'place points of the first class'], ['flip', 'Flip', 'change the class of a point'], ['delete', 'Delete', 'delete points'], ['spray', 'Spray', 'spray noise on points']];

const ICONS = { first: 'M2 2h2v12H2zM14 2v12L5 8z', back: 'M11 3v10L4 8z', play: 'M4 2v12l9-6z', pause: 'M3 2h4v12H3zM9 2h4v12H9z', on: 'M5 3v10l7-5z', last: 'M12 2h2v12h-2zM2 2v12l9-6z' };
