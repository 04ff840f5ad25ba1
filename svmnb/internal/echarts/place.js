// The script behind the place of each chart: it waits for the library and draws. It is in
// every output with a chart, so place.go leaves comments and indentation out.
(function(w,me){
  var S=w.__svmEcharts=w.__svmEcharts||{};
  if(!S.ready){
    S.ready=new Promise(function(r){S.resolve=r});
    // A notebook that is opened without its carrier runs the library that the browser
    // keeps (runtime.js): as a script element, since it is one.
    if(w.caches&&document.getElementById("jupyter-config-data"))w.caches.match("/svmnb/echarts-$version")
      .then(function(r){return r&&r.text()})
      .then(function(t){if(!t||S.draw)return;var s=document.createElement("script");s.textContent=t;document.head.appendChild(s)})
      .catch(function(){})
  }
  S.ready.then(function(){S.draw("$id",$option,me)})
})(window,document.currentScript)
