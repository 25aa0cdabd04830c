// Numbers, times and sizes as people read them; always with their unit.

const digits = (value: number, most: number, least = 0) =>
  value.toLocaleString('en', { maximumFractionDigits: most, minimumFractionDigits: least })

/// One decimal, two below 1: columns of percentages line up.
const percent = (value: number) => (value === 0 ? '0' : Math.abs(value) < 0.995 ? digits(value, 2, 2) : digits(value, 1, 1))

/// Three or four significant digits, no exponent for what people meet.
function significant(value: number): string {
  const size = Math.abs(value)
  if (size === 0) return '0'
  if (size >= 1e15 || size < 1e-6) return value.toExponential(2)
  const decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : Math.min(8, 2 - Math.floor(Math.log10(size)))
  return digits(value, decimals)
}

type Step = readonly [number, string]
const times: readonly Step[] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']]
const sizes: readonly Step[] = [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']]

export interface Scale {
  factor: number
  unit: string
}

/// The unit in which values up to `most` read well: of a column or an axis, so that its numbers can be compared.
export function scaleFor(most: number, unit: string): Scale {
  if (unit === 'ratio') return { factor: 0.01, unit: '%' }
  const steps = unit === 'ns' ? times : unit === 'bytes' ? sizes : null
  if (!steps) return { factor: 1, unit: unit === 'count' ? '' : unit }
  const size = Math.abs(most)
  const [factor, name] = steps.find(([least]) => size >= least) ?? steps[steps.length - 1]!
  return { factor, unit: name }
}

const joined = (text: string, unit: string) => (unit ? `${text}\u202f${unit}` : text)

/// `most`: the size whose unit is used, where several numbers are to be compared.
export function formatValue(value: number | null | undefined, unit: string, most?: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–'
  const scale = scaleFor(most ?? value, unit)
  const scaled = value / scale.factor
  if (unit === 'ratio') return joined(percent(scaled), '%')
  if (unit === 'count') return digits(scaled, Math.abs(scaled) < 10 ? 2 : 0)
  return joined(significant(scaled), scale.unit)
}

/// A difference, with its sign; of ratios in percentage points.
export function formatDelta(delta: number | null | undefined, unit: string, most?: number): string {
  if (delta === null || delta === undefined || !Number.isFinite(delta)) return '–'
  const nothing = delta === 0 || (unit === 'ratio' && Math.abs(delta) < 0.00005)
  const sign = nothing ? '±' : delta > 0 ? '+' : '−'
  if (unit !== 'ratio') return sign + formatValue(Math.abs(delta), unit, most)
  return sign + joined(percent(Math.abs(delta) * 100), 'pp')
}

export function formatRelative(ratio: number | null | undefined): string {
  if (ratio === null || ratio === undefined || !Number.isFinite(ratio)) return ''
  const percent = Math.abs(ratio * 100)
  return `${ratio > 0 ? '+' : ratio < 0 ? '−' : '±'}${digits(percent, percent < 10 ? 1 : 0)}\u202f%`
}

export const formatCount = (value: number) => digits(value, 0)
export const formatShare = (ratio: number) => formatValue(ratio, 'ratio')
export const formatTime = (ns: number) => formatValue(ns, 'ns')
export const formatBytes = (bytes: number) => formatValue(bytes, 'bytes')

const dateTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const dayOfYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: '2-digit' })

export const formatDateTime = (ms: number) => (Number.isFinite(ms) ? dateTime.format(ms) : '–')
export const formatDay = (ms: number, withYear: boolean) => (Number.isFinite(ms) ? (withYear ? dayOfYear : day).format(ms) : '')

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
/// The hour of a day that is known.
export const formatClock = (ms: number) => (Number.isFinite(ms) ? clock.format(ms) : '')

export function formatAgo(ms: number, now = Date.now()): string {
  const seconds = (now - ms) / 1000
  const spans: readonly (readonly [number, number, string])[] = [[60, 1, 'second'], [3600, 60, 'minute'], [86400, 3600, 'hour'], [86400 * 60, 86400, 'day']]
  if (!Number.isFinite(seconds)) return '–'
  if (seconds < 10) return 'just now'
  for (const [below, size, name] of spans)
    if (seconds < below) {
      const count = Math.floor(seconds / size)
      return `${count} ${name}${count === 1 ? '' : 's'} ago`
    }
  return formatDateTime(ms)
}

export const shortSha = (sha: string) => sha.slice(0, 9)

/// Names of kernels are long: the function without what it is made of.
export function shortKernel(name: string): string {
  const plain = name.replace(/^(void|static|auto)\s+/, '').replace(/\(anonymous namespace\)::/g, '')
  const cut = plain.search(/[<(]/)
  return cut > 3 ? plain.slice(0, cut) : plain
}

export const plural = (count: number, one: string, many = `${one}s`) => `${formatCount(count)} ${count === 1 ? one : many}`
