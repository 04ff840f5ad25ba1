(function () {
  'use strict';
  var narrow = innerWidth < 600, width = narrow ? 480 : 960, height = narrow ? 860 : 540;
  var room = height - 20; // above the number of the slide
  // What is too high for its slide becomes smaller, down to half. Beyond that, it scrolls. A smaller
  // slide has longer lines and more pictures in a row. So the first size that fits is searched for:
  // the one by which it is too high now may be much too small.
  function fit(slide) {
    if (!slide.offsetParent) return;
    var zoom = 1;
    slide.style.zoom = zoom;
    while (zoom > 0.5 && slide.scrollHeight * zoom > room) {
      zoom = Math.max(0.5, Math.round(100 * zoom - 3) / 100);
      slide.style.zoom = zoom;
    }
    slide.style.overflow = slide.scrollHeight * zoom > height ? 'auto' : 'visible';
  }
  var slides = document.querySelectorAll('.slide'), printed = /print-pdf/.test(location.search);
  // The buttons of a chart are of no use on paper.
  function hideButtons(el) {
    var echarts = (window.__svmEcharts || {}).echarts, chart = echarts && echarts.getInstanceByDom(el);
    var box = chart && (chart.getOption().toolbox || [])[0];
    if (box && box.show !== false) chart.setOption({ toolbox: { show: false } });
  }
  if (printed) setInterval(function () { document.querySelectorAll('[id^="svm-"]').forEach(hideButtons); }, 100); // charts are drawn one after the other
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
