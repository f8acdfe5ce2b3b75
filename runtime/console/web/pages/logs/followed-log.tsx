import { useMemo, useState, useEffect } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { Failure, Badge } from '../../parts/page.tsx';
import { lineOf, type StreamEvent } from '../../parts/event-frames.ts';
import { type LogFilter, type LogLine, LogLines } from '../../parts/log-lines.ts';
import { LogView } from '../../parts/log-view.tsx';
import { notifyFailure } from '../../parts/notices.tsx';
import { type Streamed, useStream } from '../../parts/use-stream.ts';
import type { LogEntry, LogPage } from '../../../flows/logs.ts';
import { appLine, serverLine } from './lines.ts';
import type { ComponentChildren } from 'preact';
import { withoutAnsi } from '../../parts/ansi.ts';
import { saveFile } from '../../parts/save-file.ts';
import { formatNumber } from '../../parts/time.tsx';
import { signal } from '@preact/signals';

/** Lines that are read at first. */
const FIRST = 1000;

/** The server's own log, continued live. */
export function ServerLog({ filter }: { filter: LogFilter }) {
  const level = filter.level === null ? '' : `&level=${filter.level}`;
  const lines = useMemo(() => new PausableLines(), []);
  const stream = useStream(`/api/system/logs?limit=${FIRST}${level}`, (events) => {
    for (const { event, data } of events) {
      if (event === 'lines') lines.take((JSON.parse(data) as LogEntry[]).map(serverLine));
      if (event === 'dropped') lines.skip((JSON.parse(data) as { lines: number | null }).lines);
    }
  });
  return (
    <FollowedLog name="server" {...{ lines, stream, filter }}>
      <OlderLines lines={lines} level={level} />
    </FollowedLog>
  );
}

/** The output of a hosted app. */
export function AppLog({ name, filter }: { name: string; filter: LogFilter }) {
  const lines = useMemo(() => new PausableLines(), []);
  const path = `/api/apps/${encodeURIComponent(name)}/logs?tail=${FIRST}&timestamps=true`;
  const stream = useStream(path, (events: readonly StreamEvent[]) =>
    lines.take(events.map(({ data }) => appLine(lineOf(data)))),
  );
  return <FollowedLog name={name} {...{ lines, stream, filter }} />;
}

function FollowedLog({ name, lines, stream, filter, children }: LogToolsProps) {
  return (
    <div class="logs" aria-busy={stream.state === 'connecting' && stream.error === null}>
      <LogTools {...{ name, lines, stream, filter }}>{children}</LogTools>
      {stream.error !== null && <Failure error={stream.error} again={stream.again} />}
      <LogView lines={lines} filter={filter} empty={emptyText(stream, filter)} />
    </div>
  );
}

/** Before the first answer nobody knows whether there are lines. */
function emptyText({ state }: Streamed, { search }: LogFilter): string {
  if (state !== 'open' && state !== 'ended') return '';
  return search === '' ? t('No lines yet') : t('No lines match');
}

/** Reads what was logged before the first line that is shown. */
function OlderLines({ lines, level }: { lines: PausableLines; level: string }) {
  const [state, setState] = useState<'some' | 'reading' | 'none'>('some');
  const first = lines.version.value >= 0 ? lines.all()[0] : undefined;
  if (state === 'none' || first === undefined || lines.all().length < FIRST) return null;
  const read = async () => {
    setState('reading');
    const path = `/api/system/logs?limit=${FIRST}&cursor=${first.id}${level}`;
    try {
      const older = await call<LogPage>('GET', path);
      lines.prepend(older.lines.map(serverLine).toReversed());
      setState(older.next_cursor === null ? 'none' : 'some');
    } catch (error) {
      notifyFailure(error);
      setState('some');
    }
  };
  return (
    <Button disabled={state === 'reading'} onClick={read}>
      {t('Older lines')}
    </Button>
  );
}

interface LogToolsProps {
  /** For the name of the file that `Download` makes. */
  readonly name: string;
  readonly lines: PausableLines;
  readonly stream: Streamed;
  readonly filter: LogFilter;
  readonly children?: ComponentChildren;
}

/** The tools of a log, and the number of its lines. */
function LogTools({ name, lines, stream, filter, children }: LogToolsProps) {
  const paused = lines.paused.value;
  return (
    <div class="tools log-tools">
      <StreamBadge state={stream.state} paused={paused} />
      <Counted lines={lines} />
      <span class="spread" />
      {children}
      <Button onClick={() => lines.pause(!paused)}>{paused ? t('Resume') : t('Pause')}</Button>
      <Button onClick={() => lines.clear()}>{t('Clear')}</Button>
      <Button onClick={() => download(name, lines.matching(filter))}>{t('Download')}</Button>
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
function Counted({ lines }: { lines: PausableLines }) {
  const { waiting } = lines;
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

/** At most this many lines wait. The oldest are skipped. */
const MOST = 50_000;

/** Lines of a log. New ones wait while it is paused. */
class PausableLines extends LogLines {
  readonly paused = signal(false);
  /** How many lines wait. */
  readonly waiting = signal(0);
  #held: LogLine[] = [];

  take(more: readonly LogLine[]): void {
    if (!this.paused.peek()) return this.append(more);
    this.#held = this.#held.concat(more);
    const over = this.#held.length - MOST;
    if (over > 0) {
      this.#held = this.#held.slice(over);
      this.skip(over);
    }
    this.waiting.value = this.#held.length;
  }

  pause(on: boolean): void {
    this.paused.value = on;
    if (on) return;
    this.append(this.#held);
    this.#held = [];
    this.waiting.value = 0;
  }
}
