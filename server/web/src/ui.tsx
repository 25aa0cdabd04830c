// The small parts of every page: badges, states, tables, dialogs. All texts are children, which Preact never reads as markup.
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { onToken, Problem, setToken, token, type Outcome, type Run } from './api'
import { runHref } from './router'
import { outcomeNames } from './words'

const shapes: Record<Outcome, JSX.Element> = {
  pass: <><circle cx="8" cy="8" r="7" /><path class="mark" d="M4.6 8.3l2.3 2.3 4.5-4.9" /></>,
  warn: <><path d="M8 1.2l7.2 13H.8z" /><path class="mark" d="M8 6v4M8 11.6v.6" /></>,
  inconclusive: <><path d="M8 .8L15.2 8 8 15.2.8 8z" /><path class="mark" d="M5.2 8h5.6" /></>,
  fail: <><path d="M5 .9h6L15.1 5v6L11 15.1H5L.9 11V5z" /><path class="mark" d="M5.3 5.3l5.4 5.4M10.7 5.3l-5.4 5.4" /></>,
}

export function OutcomeIcon({ outcome }: { outcome: Outcome }) {
  return <svg class={`outcome-icon ${outcome}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">{shapes[outcome]}</svg>
}

export function OutcomeBadge({ outcome, learning, large }: { outcome: Outcome; learning?: boolean | undefined; large?: boolean }) {
  return (
    <span class={`badge ${outcome}${large ? ' large' : ''}`}>
      <OutcomeIcon outcome={outcome} />
      {learning ? 'Learning' : outcomeNames[outcome]}
    </span>
  )
}

const statusNames: Record<string, string> = { pending: 'Waiting for ranks', analysing: 'Being analysed', rejected: 'Rejected' }

/// The verdict of a run, or why it has none.
export function RunBadge({ run, large }: { run: Run; large?: boolean }) {
  if (run.verdict) return <OutcomeBadge outcome={run.verdict.outcome} learning={run.verdict.learning} large={large ?? false} />
  return <span class={`badge none${large ? ' large' : ''}`}>{statusNames[run.status] ?? run.status}</span>
}

const runId = /\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g

/// A sentence of the service, in which ids of runs become links with short names.
export function Sentence({ text, project }: { text: string; project: string }) {
  const parts: ComponentChildren[] = []
  let end = 0
  for (const match of text.matchAll(runId)) {
    parts.push(text.slice(end, match.index), <a href={runHref(project, match[0])} class="in-text" title={match[0]}>{match[0].slice(-8)}</a>)
    end = match.index! + match[0].length
  }
  return <>{parts}{text.slice(end)}</>
}

export function Loading({ what }: { what: string }) {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">Loading {what}…</span>
      <span class="skeleton wide" /><span class="skeleton" /><span class="skeleton narrow" />
    </div>
  )
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  )
}

const needsToken = (problem: Problem) => problem.status === 401 || problem.status === 403

/// What went wrong and what to do about it.
export function ProblemBox({ problem, again, what }: { problem: Problem; again?: () => void; what: string }) {
  if (needsToken(problem)) return <TokenPanel problem={problem} />
  return (
    <div class="problem" role="alert">
      <p class="empty-title">{problem.status === 404 ? `There is no such ${what}` : problem.title}</p>
      {!(problem.status === 404 && /^there is no such/i.test(problem.detail)) && <p>{problem.detail}</p>}
      {problem.status === 404 && <p>The address may be mistyped, or it was deleted. <a href="/">All projects</a></p>}
      {again && problem.status !== 404 && <button type="button" class="button" onClick={again}>Try again</button>}
    </div>
  )
}

/// Asks for a token where the service wants one.
export function TokenPanel({ problem }: { problem?: Problem }) {
  const had = token() !== null
  return (
    <div class="problem" role="alert">
      <p class="empty-title">{problem?.status === 403 ? 'Your token does not allow this' : had ? 'The service does not know your token' : 'This needs a token'}</p>
      {problem?.status === 403 && <p>{problem.detail}</p>}
      <p>An administrator of the service makes one: <code>traceweird token create --project NAME --scope read</code></p>
      <TokenForm />
    </div>
  )
}

/// `beside`: it stands under a form that has the page's main button already.
export function TokenForm({ onDone, beside }: { onDone?: () => void; beside?: boolean }) {
  const [value, setValue] = useState('')
  const id = useId()
  const submit = (event: Event) => {
    event.preventDefault()
    if (value.trim()) setToken(value.trim())
    setValue('')
    onDone?.()
  }
  return (
    <form class="token-form" onSubmit={submit}>
      <label for={id}>Token</label>
      <input id={id} type="password" autocomplete="off" spellcheck={false} placeholder="twr_…" value={value} onInput={(event) => setValue(event.currentTarget.value)} />
      <button class={beside ? 'button' : 'button primary'}>Use it</button>
      {token() !== null && <button type="button" class="button" onClick={() => { setToken(null); onDone?.() }}>Forget the one in use</button>}
      <p class="hint">It stays in this browser tab until you close it, and is sent to this service only.</p>
    </form>
  )
}

export function useToken(): string | null {
  const [value, setValue] = useState(token)
  useEffect(() => onToken(() => setValue(token())), [])
  return value
}

/// A modal dialog: Escape closes it, focus stays inside and goes back afterwards.
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null
    ref.current?.showModal()
    return () => before?.focus()
  }, [])
  return (
    <dialog ref={ref} aria-labelledby={id} onClose={onClose} onClick={(event) => event.target === ref.current && onClose()}>
      <div class="dialog-body">
        <div class="dialog-head">
          <h2 id={id}>{title}</h2>
          <button type="button" class="button quiet" aria-label="Close" onClick={onClose}>✕</button>
        </div>
        {children}
      </div>
    </dialog>
  )
}

export function Section({ title, id, hint, actions, children }: { title: string; id?: string; hint?: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="section" id={id} aria-label={title}>
      <div class="section-head">
        <div>
          <h2>{title}</h2>
          {hint && <p class="hint">{hint}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </div>
      {children}
    </section>
  )
}

export interface Column<Row> {
  head: ComponentChildren
  cell: (row: Row) => ComponentChildren
  number?: boolean
  class?: string
  label?: string // of a cell on narrow screens, where the head is more than a text
}

/// A table that scrolls inside itself on narrow screens, or becomes a list of cards there (`stack`), with more rows on request.
export function Table<Row>({ caption, columns, rows, most = 12, rowClass, stack }: { caption: string; columns: readonly Column<Row>[]; rows: readonly Row[]; most?: number; rowClass?: (row: Row) => string; stack?: boolean }) {
  const [shown, setShown] = useState(most)
  const kind = (column: Column<Row>) => [column.number ? 'number' : '', column.class ?? ''].join(' ').trim() || undefined
  return (
    <>
      <div class={stack ? 'table-wrap stack' : 'table-wrap'} tabIndex={0} role="group" aria-label={caption}>
        <table>
          <caption class="visually-hidden">{caption}</caption>
          <thead><tr>{columns.map((column) => <th scope="col" class={kind(column)}>{column.head}</th>)}</tr></thead>
          <tbody>{rows.slice(0, shown).map((row) => <tr class={rowClass?.(row)}>{columns.map((column) => <td class={kind(column)} data-label={typeof column.head === 'string' ? column.head : column.label}>{stack ? <div>{column.cell(row)}</div> : column.cell(row)}</td>)}</tr>)}</tbody>
        </table>
      </div>
      {rows.length > shown && (
        <button type="button" class="button quiet more" onClick={() => setShown(shown + Math.max(most, 100))}>Show more ({rows.length - shown} left)</button>
      )}
    </>
  )
}

export function Select({ label, value, options, onChange }: { label: string; value: string; options: readonly (readonly [string, string])[]; onChange: (value: string) => void }) {
  const id = useId()
  return (
    <span class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([key, name]) => <option value={key}>{name}</option>)}
      </select>
    </span>
  )
}

/// A few choices of which one holds.
export function Choice({ label, value, options, onChange }: { label: string; value: string; options: readonly (readonly [string, string])[]; onChange: (value: string) => void }) {
  return (
    <span class="choice" role="group" aria-label={label}>
      {options.map(([key, name]) => (
        <button type="button" aria-pressed={key === value} onClick={() => onChange(key)}>{name}</button>
      ))}
    </span>
  )
}

export function CopyButton({ text, what }: { text: string; what: string }) {
  const [done, setDone] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setDone(true)
    setTimeout(() => setDone(false), 2000)
  }
  return <button type="button" class="button quiet small" aria-label={`Copy ${what}`} onClick={copy}>{done ? 'copied' : 'copy'}</button>
}
