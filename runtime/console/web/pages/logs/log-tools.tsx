import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../../messages.ts';
import { withoutAnsi } from '../../parts/ansi.ts';
import { Button } from '../../parts/button.tsx';
import type { LogFilter, LogLine } from '../../parts/log-lines.ts';
import { Badge } from '../../parts/page.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { formatNumber } from '../../parts/time.tsx';
import type { Streamed } from '../../parts/use-stream.ts';
import type { PausableLines } from './held-lines.ts';

export interface LogToolsProps {
  /** For the name of the file that `Download` makes. */
  readonly name: string;
  readonly held: PausableLines;
  readonly stream: Streamed;
  readonly filter: LogFilter;
  readonly children?: ComponentChildren;
}

/** The tools of a log, and the number of its lines. */
export function LogTools({ name, held, stream, filter, children }: LogToolsProps) {
  const paused = held.paused.value;
  return (
    <div class="tools log-tools">
      <StreamBadge state={stream.state} paused={paused} />
      <Counted held={held} />
      <span class="spread" />
      {children}
      <Button onClick={paused ? held.resume : held.pause}>
        {paused ? t('Resume') : t('Pause')}
      </Button>
      <Button onClick={() => held.lines.clear()}>{t('Clear')}</Button>
      <Button onClick={() => download(name, held.lines.matching(filter))}>{t('Download')}</Button>
    </div>
  );
}

function StreamBadge({ state, paused }: { state: Streamed['state']; paused: boolean }) {
  if (paused) return <Badge tone="plain">{t('Paused')}</Badge>;
  if (state === 'open') return <Badge tone="good">{t('Live')}</Badge>;
  if (state === 'refused') return <Badge tone="bad">{t('Refused')}</Badge>;
  return <Badge tone="busy">{t('Connecting')}</Badge>;
}

/**
 * Milliseconds between two texts of the status, so that a screen reader does not read each line.
 */
const EVERY = 500;

/** The status: `1,200 lines, 30 skipped`. */
function Counted({ held }: { held: PausableLines }) {
  const { lines, waiting } = held;
  const [, look] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => look(lines.version.peek() + waiting.peek()), EVERY);
    return () => clearInterval(timer);
  }, [lines]);
  const parts = [t('{n} lines', { n: formatNumber(lines.count.peek()) })];
  if (lines.skipped.peek() > 0)
    parts.push(t('{n} skipped', { n: formatNumber(lines.skipped.peek()) }));
  if (waiting.peek() > 0) parts.push(t('{n} waiting', { n: formatNumber(waiting.peek()) }));
  return (
    <span role="status" class="quiet">
      {parts.join(', ')}
    </span>
  );
}

/** Saves the lines that are shown as a text file. */
function download(name: string, lines: readonly LogLine[]): void {
  const text = lines.map(({ time, level, text: line }) => {
    const head = [time, level?.padEnd(5)].filter(Boolean).join(' ');
    return `${head}${head === '' ? '' : ' '}${withoutAnsi(line)}\n`;
  });
  const now = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  saveFile(`${name}-${now}.log`, 'text/plain', text);
}
