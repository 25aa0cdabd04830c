// Light or dark: what the system says, unless the person chose. The choice is kept in this browser.
import { useEffect, useState } from 'preact/hooks'

export type Choice = 'auto' | 'light' | 'dark'
const key = 'traceweir-theme'
const system = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

export function chosen(): Choice {
  const kept = localStorage.getItem(key)
  return kept === 'light' || kept === 'dark' ? kept : 'auto'
}

export const theme = (): 'light' | 'dark' => {
  const choice = chosen()
  return choice === 'auto' ? (system.matches ? 'dark' : 'light') : choice
}

function apply() {
  document.documentElement.dataset['theme'] = theme()
  listeners.forEach((listener) => listener())
}

export function choose(choice: Choice) {
  if (choice === 'auto') localStorage.removeItem(key)
  else localStorage.setItem(key, choice)
  apply()
}

system.addEventListener('change', apply)
apply()

export function useTheme(): 'light' | 'dark' {
  const [value, setValue] = useState(theme)
  useEffect(() => {
    const listener = () => setValue(theme())
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [])
  return value
}
