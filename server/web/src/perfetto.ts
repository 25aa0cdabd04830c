// Hands a Kineto trace to Perfetto's viewer in a window of its own. The trace goes from this page to that window and is
// uploaded nowhere. Source: the viewer's documentation, "Deep linking": PING until PONG, then the buffer.
import { ask } from './api'

const viewer = 'https://ui.perfetto.dev'
const patience = 30_000
const pause = 100

function answered(target: Window): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setInterval(() => {
      if (target.closed || Date.now() > end) return finish(() => reject(new Error(target.closed ? 'Its window was closed.' : 'Perfetto did not answer; this needs a way to ui.perfetto.dev.')))
      target.postMessage('PING', viewer)
    }, pause)
    const end = Date.now() + patience
    const listener = (event: MessageEvent) => {
      if (event.origin === viewer && event.source === target && event.data === 'PONG') finish(resolve)
    }
    function finish(then: () => void) {
      clearInterval(timer)
      removeEventListener('message', listener)
      then()
    }
    addEventListener('message', listener)
  })
}

/// Opens the window at once (browsers only allow that on a click), then loads the trace and hands it over.
export async function openInPerfetto(tracePath: string, title: string): Promise<void> {
  const target = window.open(viewer)
  if (!target) throw new Error('The browser did not allow a new window; allow pop-ups of this page.')
  const [buffer] = await Promise.all([ask(tracePath).then((answer) => answer.arrayBuffer()), answered(target)])
  target.postMessage({ perfetto: { buffer, title, keepApiOpen: false } }, viewer)
}

/// Formats that the viewer reads: Kineto's JSON, plain or gzip.
export const perfettoReads = (format: string, compression: string) => format.startsWith('kineto') && compression !== 'zstd'
