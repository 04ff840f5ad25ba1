(function () {
  'use strict'
  const pages = HEADINGS, headings = pages.flatMap(p => p.headings.map(([heading, anchor = heading]) => ({page: p.page, title: p.title, heading, anchor})))
  const root = document.currentScript.dataset.root
  const input = document.querySelector('.search input'), list = document.querySelector('.search ol')

  // The text of the pages is large, so it is loaded when somebody searches.
  let asked = false
  function load() {
    if (asked) return
    asked = true
    const script = document.createElement('script')
    script.src = root + 'assets/search.js'
    script.onload = search
    document.head.append(script)
  }

  // excerpt returns some words around the first of the given words.
  function excerpt(text, words) {
    const at = Math.max(0, text.toLowerCase().indexOf(words[0]))
    const from = at < 40 ? 0 : text.lastIndexOf(' ', at - 30) + 1, to = text.indexOf(' ', at + 60)
    return (from ? '… ' : '') + text.slice(from, to < 0 ? text.length : to) + (to < 0 ? '' : ' …')
  }

  // sections returns the parts of pages whose text has all the words, those that have them often first.
  function sections(words) {
    const many = t => words.reduce((n, w) => n + t.split(w).length - 1, 0)
    return (window.svmnbSections || []).map(([page, anchor, heading, text]) => ({page: {page: pages[page].page, title: pages[page].title}, anchor, heading, text, low: (heading + ' ' + text).toLowerCase()}))
      .filter(s => words.every(w => s.low.includes(w))).map(s => ({h: {...s.page, heading: s.heading, anchor: s.anchor, text: excerpt(s.text, words)}, rank: 3 + 1 / (1 + many(s.low))}))
  }

  function search() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean), all = words.join(' ')
    // The heading itself comes first, then all words in the heading, then those where the title helps.
    const found = headings.map(h => {
      const heading = h.heading.toLowerCase(), both = heading + ' ' + h.title.toLowerCase()
      return {h, rank: heading === all ? 0 : words.every(w => heading.includes(w)) ? 1 : words.every(w => both.includes(w)) ? 2 : 3}
    }).filter(f => f.rank < 3).sort((a, b) => a.rank - b.rank).slice(0, 8)
    if (words.length) {
      const there = new Set(found.map(f => f.h.page + '#' + f.h.anchor))
      found.push(...sections(words).sort((a, b) => a.rank - b.rank).filter(f => !there.has(f.h.page + '#' + f.h.anchor)).slice(0, 14 - found.length))
    }
    list.hidden = !words.length
    list.replaceChildren(...found.map(f => {
      const item = document.createElement('li'), link = document.createElement('a'), where = document.createElement('small')
      link.href = root + f.h.page + (f.h.anchor ? '#' + encodeURIComponent(f.h.anchor) : '')
      link.textContent = f.h.heading
      where.textContent = f.h.text ? f.h.title + ': ' + f.h.text : f.h.title
      link.append(where)
      item.append(link)
      return item
    }))
    if (!found.length) {
      const none = document.createElement('p')
      none.textContent = window.svmnbSections ? 'No page has these words.' : 'Searching …'
      list.replaceChildren(none)
    }
  }

  // Living figures are still pictures until somebody touches one, or the address has the state of one.
  function wake(figure) {
    if ('touched' in figure.dataset) return
    figure.dataset.touched = ''
    if (figure.ask) return figure.ask()
    if (document.getElementById('living')) return
    const script = document.createElement('script')
    script.id = 'living'
    script.src = root + 'assets/living.js'
    document.head.append(script)
  }
  for (const kind of ['pointerdown', 'click', 'keydown']) document.addEventListener(kind, e => {
    const figure = e.key !== 'Tab' && e.target.closest && e.target.closest('svmnb-figure')
    if (figure) wake(figure)
  }, {passive: true})
  const shared = () => {
    const figure = document.getElementById(location.hash.slice(1).split('=')[0])
    if (figure && figure.localName === 'svmnb-figure' && location.hash.includes('=')) wake(figure)
  }
  window.addEventListener('hashchange', shared)
  shared()

  // The contents are open where they stand beside the page.
  const contents = document.querySelector('.contents details')
  if (contents && window.matchMedia('(min-width: 98rem)').matches) contents.open = true

  // Each piece of code has a button that copies it.
  document.querySelectorAll('pre.chroma, .text pre').forEach(pre => {
    const box = document.createElement('div'), button = document.createElement('button')
    box.className = 'copied'
    button.className = 'copy'
    button.textContent = 'copy'
    button.addEventListener('click', () => {
      const done = () => { button.textContent = 'copied'; setTimeout(() => { button.textContent = 'copy' }, 1500) }
      const text = pre.textContent
      if (navigator.clipboard) return navigator.clipboard.writeText(text).then(done)
      const area = document.createElement('textarea') // from a file, some browsers have no clipboard
      area.value = text
      document.body.append(area)
      area.select()
      document.execCommand('copy')
      area.remove()
      done()
    })
    pre.replaceWith(box)
    box.append(pre, button)
  })

  // What scrolls sideways takes the focus, so that the keyboard can scroll it.
  function reach() {
    document.querySelectorAll('pre, table, .math.display, .rich, .image, .out, figcaption').forEach(e => {
      if (e.scrollWidth > e.clientWidth + 1) e.tabIndex = 0
      else if (e.tabIndex === 0) e.removeAttribute('tabindex')
    })
  }
  window.addEventListener('load', reach)
  window.addEventListener('resize', reach)

  input.addEventListener('input', search)
  input.addEventListener('focus', () => { load(); search() })
  document.addEventListener('keydown', e => {
    const links = [...list.querySelectorAll('a')], at = links.indexOf(document.activeElement)
    if (e.key === 'Escape') list.hidden = true
    else if (list.hidden || !document.activeElement.closest('.search')) return
    else if (e.key === 'Enter' && at < 0 && links.length) links[0].click()
    else if (e.key === 'ArrowDown' && at + 1 < links.length) { links[at + 1].focus(); e.preventDefault() }
    else if (e.key === 'ArrowUp' && at >= 0) { (links[at - 1] || input).focus(); e.preventDefault() }
  })
  document.addEventListener('click', e => { if (!e.target.closest('.search') || e.target.closest('a')) list.hidden = true })
})()
