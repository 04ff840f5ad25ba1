(function () {
  'use strict';
  var narrow = innerWidth < 600, width = narrow ? 480 : 960, height = narrow ? 860 : 540;
  // What is too high for its slide becomes smaller, down to half. Beyond that, it scrolls.
  function fit(slide) {
    if (!slide.offsetParent) return;
    slide.style.zoom = 1;
    var high = slide.scrollHeight;
    if (high > height) slide.style.zoom = Math.max(0.5, height / high);
    slide.style.overflow = high > 2 * height ? 'auto' : 'visible';
  }
  var slides = document.querySelectorAll('.slide');
  function fitAll() { slides.forEach(fit); }
  Reveal.initialize({
    width: width, height: height, margin: 0.05, center: false, hash: true, transition: 'none',
    slideNumber: 'c/t', controlsTutorial: false, pdfSeparateFragments: false, pdfMaxPagesPerSlide: 1,
  }).then(function () {
    Reveal.on('slidechanged', fitAll);
    Reveal.on('pdf-ready', fitAll);
    // Charts, formulas and fonts change the height later.
    var later = new MutationObserver(function () { requestAnimationFrame(fitAll); });
    later.observe(document.querySelector('.slides'), { childList: true, subtree: true });
    document.fonts.ready.then(fitAll);
    fitAll();
  });
})();
