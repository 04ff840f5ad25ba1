(function () {
  'use strict'
  const headings = HEADINGS.flatMap(p => p.headings.map(([heading, anchor = heading]) => ({page: p.page, title: p.title, heading, anchor})))
  const root = document.currentScript.dataset.root
  const input = document.querySelector('.search input'), list = document.querySelector('.search ol')

  function search() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean), all = words.join(' ')
    // The heading itself comes first, then all words in the heading, then those where the title helps.
    const found = headings.map(h => {
      const heading = h.heading.toLowerCase(), both = heading + ' ' + h.title.toLowerCase()
      return {h, rank: heading === all ? 0 : words.every(w => heading.includes(w)) ? 1 : words.every(w => both.includes(w)) ? 2 : 3}
    }).filter(f => f.rank < 3).sort((a, b) => a.rank - b.rank).slice(0, 12)
    list.hidden = !words.length
    list.replaceChildren(...found.map(f => {
      const item = document.createElement('li'), link = document.createElement('a'), where = document.createElement('small')
      link.href = root + f.h.page + '#' + encodeURIComponent(f.h.anchor)
      link.textContent = f.h.heading
      where.textContent = f.h.title
      link.append(where)
      item.append(link)
      return item
    }))
    if (!found.length) {
      const none = document.createElement('p')
      none.textContent = 'No heading has these words.'
      list.replaceChildren(none)
    }
  }

  input.addEventListener('input', search)
  input.addEventListener('focus', search)
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
