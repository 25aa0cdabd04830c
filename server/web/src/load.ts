// Loading as a value: what came, what went wrong, or neither yet.
import { useEffect, useState } from 'preact/hooks'
import { onToken, Problem } from './api'

export interface Loaded<T> {
  value: T | null
  problem: Problem | null
  again: () => void
}

const asProblem = (error: unknown) =>
  error instanceof Problem ? error : new Problem(0, 'internal', 'This page has a fault', error instanceof Error ? error.message : String(error))

/// Loads for `key`, again when it changes, when the token does, and on request; null loads nothing. What an older key
/// asked for is dropped.
export function useLoad<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string | null; value: T | null; problem: Problem | null }>({ key: null, value: null, problem: null })
  const [round, setRound] = useState(0)
  useEffect(() => onToken(() => setRound((n) => n + 1)), [])
  useEffect(() => {
    if (key === null) return undefined
    const abort = new AbortController()
    load(abort.signal).then(
      (value) => abort.signal.aborted || setState({ key, value, problem: null }),
      (error: unknown) => abort.signal.aborted || setState({ key, value: null, problem: asProblem(error) }),
    )
    return () => abort.abort()
  }, [key, round])
  const fresh = state.key === key && key !== null
  return { value: fresh ? state.value : null, problem: fresh ? state.problem : null, again: () => setRound((n) => n + 1) }
}
