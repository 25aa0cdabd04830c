// Where the page is: path and query. Everything that a page shows follows from it, so that every view has a link.
import { useEffect, useState } from 'preact/hooks'

export interface Place {
  path: readonly string[]
  query: URLSearchParams
}

const listeners = new Set<() => void>()

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const place = (): Place => ({
  path: location.pathname.split('/').filter(Boolean).map(decoded),
  query: new URLSearchParams(location.search),
})

const changed = () => listeners.forEach((listener) => listener())
addEventListener('popstate', changed)

export function go(href: string) {
  history.pushState(null, '', href)
  scrollTo(0, 0)
  changed()
}

/// Changes parameters of this page; null removes one. Small changes replace, so that Back leaves the page.
export function setQuery(changes: Record<string, string | null>) {
  history.replaceState(null, '', hrefWith(changes))
  changed()
}

export function hrefWith(changes: Record<string, string | null>): string {
  const query = new URLSearchParams(location.search)
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(key)
    else query.set(key, value)
  }
  const text = query.toString()
  return location.pathname + (text ? `?${text}` : '')
}

export function usePlace(): Place {
  const [here, setHere] = useState(place)
  useEffect(() => {
    const listener = () => setHere(place())
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [])
  return here
}

/// Links inside the dashboard change the page without loading it again; with a modifier the browser does what it does.
export function followLinks(event: MouseEvent) {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = (event.target as Element).closest?.('a')
  if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return
  if (!/^\/($|projects(\/|$)|analyze$)/.test(link.pathname)) return
  if (link.hash && link.pathname === location.pathname) return
  event.preventDefault()
  go(link.pathname + link.search)
}

const part = encodeURIComponent
const withQuery = (path: string, query: Record<string, string | null | undefined>) => {
  const text = new URLSearchParams(Object.entries(query).filter((entry): entry is [string, string] => !!entry[1])).toString()
  return text ? `${path}?${text}` : path
}
export const projectHref = (project: string, query: Record<string, string | null | undefined> = {}) => withQuery(`/projects/${part(project)}`, query)
export const runsHref = (project: string, query: Record<string, string | null | undefined> = {}) => withQuery(`/projects/${part(project)}/runs`, query)
export const runHref = (project: string, run: string) => `/projects/${part(project)}/runs/${part(run)}`
export const compareHref = (project: string, base: string, head: string) => withQuery(`/projects/${part(project)}/compare`, { base, head })
