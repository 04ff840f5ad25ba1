(function svmnbLiving(w, PRESETS, own, tag) {
'use strict';
// Living figures: <svmnb-figure data="moons"></svmnb-figure> becomes a picture of a machine
// that trains again when a reader moves a point or a slider. Until then it is a still
// picture, and nothing is loaded. The machine is Go: in a worker of the page or, in a
// notebook, in the program that runs in the kernel. Both answer the same questions.
//
// The parts of this script stand in files of their own, which page.go joins.
if (!w.customElements || w.customElements.get(tag)) return;
const L = w.svmnbLiving = { engines: {}, presets: PRESETS, limits: { drag: 40, rest: 400, step: 60 } }; // ms of training for a picture, and between those of a run that plays

$parts
w.customElements.define(tag, Figure);
})(window, $presets, $engine, $tag);
