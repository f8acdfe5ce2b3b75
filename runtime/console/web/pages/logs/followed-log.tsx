import { useMemo, useState, useEffect } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { lineOf, type StreamEvent } from '../../parts/event-frames.ts';
import {
  createLogLines,
  type LogFilter,
  type LogLine,
  type LogLines,
} from '../../parts/log-lines.ts';
import { LogView } from '../../parts/log-view.tsx';
import { notifyFailure } from '../../parts/notices.tsx';
import { type Streamed, useStream } from '../../parts/use-stream.ts';
import { appLine, type LogEntry, serverLine } from './lines.ts';
import type { ComponentChildren } from 'preact';
import { withoutAnsi } from '../../parts/ansi.ts';
import { Badge } from '../../parts/page.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { formatNumber } from '../../parts/time.tsx';
import { type Signal, signal } from '@preact/signals';

/** Lines that are read at first. */
const FIRST = 1000;

/** The server's own log, continued live. */
export function ServerLog({ filter }: { filter: LogFilter }) {
  const level = filter.level === null ? '' : `&level=${filter.level}`;
  const lines = useMemo(() => createLogLines(), []);
  const held = useHeld(lines);
  const stream = useStream(`/api/system/logs?limit=${FIRST}${level}`, (events) => {
    for (const { event, data } of events) {
      if (event === 'lines') held.take((JSON.parse(data) as LogEntry[]).map(serverLine));
      if (event === 'dropped') lines.skip((JSON.parse(data) as { lines: number | null }).lines);
    }
  });
  return (
    <FollowedLog name="server" {...{ held, stream, filter }}>
      <OlderLines held={held} level={level} />
    </FollowedLog>
  );
}

/** The output of a hosted app. */
export function AppLog({ name, filter }: { name: string; filter: LogFilter }) {
  const lines = useMemo(() => createLogLines(), []);
  const held = useHeld(lines);
  const path = `/api/apps/${encodeURIComponent(name)}/logs?tail=${FIRST}&timestamps=true`;
  const stream = useStream(path, (events: readonly StreamEvent[]) =>
    held.take(events.map(({ data }) => appLine(lineOf(data)))),
  );
  return <FollowedLog name={name} {...{ held, stream, filter }} />;
}

function FollowedLog({ name, held, stream, filter, children }: LogToolsProps) {
  return (
    <div class="logs" aria-busy={stream.state === 'connecting' && stream.error === null}>
      <LogTools {...{ name, held, stream, filter }}>{children}</LogTools>
      {stream.error !== null && <Failure error={stream.error} again={stream.again} />}
      <LogView lines={held.lines} filter={filter} empty={emptyText(stream, filter)} />
    </div>
  );
}

/** Before the first answer nobody knows whether there are lines. */
function emptyText({ state }: Streamed, { search }: LogFilter): string {
  if (state !== 'open' && state !== 'ended') return '';
  return search === '' ? t('No lines yet') : t('No lines match');
}

/** Reads what was logged before the first line that is shown. */
function OlderLines({ held, level }: { held: PausableLines; level: string }) {
  const [state, setState] = useState<'some' | 'reading' | 'none'>('some');
  const first = held.lines.version.value >= 0 ? held.lines.all()[0] : undefined;
  if (state === 'none' || first === undefined || held.lines.all().length < FIRST) return null;
  const read = async () => {
    setState('reading');
    const path = `/api/system/logs?limit=${FIRST}&cursor=${first.id}${level}`;
    try {
      const { lines, next_cursor } = await call<Page>('GET', path);
      held.lines.prepend(lines.map(serverLine).toReversed());
      setState(next_cursor === null ? 'none' : 'some');
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

interface Page {
  readonly lines: readonly LogEntry[];
  readonly next_cursor: string | null;
}

interface LogToolsProps {
  /** For the name of the file that `Download` makes. */
  readonly name: string;
  readonly held: PausableLines;
  readonly stream: Streamed;
  readonly filter: LogFilter;
  readonly children?: ComponentChildren;
}

/** The tools of a log, and the number of its lines. */
function LogTools({ name, held, stream, filter, children }: LogToolsProps) {
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

/** Lines of a log. New ones wait while the log is paused. */
interface PausableLines {
  readonly lines: LogLines;
  readonly paused: Signal<boolean>;
  /** How many lines wait. */
  readonly waiting: Signal<number>;
  take(lines: readonly LogLine[]): void;
  pause(): void;
  resume(): void;
}

/** At most this many lines wait. The oldest are skipped. */
const MOST = 50_000;

function useHeld(lines: LogLines): PausableLines {
  return useMemo(() => createHeld(lines), [lines]);
}

function createHeld(lines: LogLines): PausableLines {
  const [paused, waiting] = [signal(false), signal(0)];
  let held: LogLine[] = [];
  const hold = (more: readonly LogLine[]) => {
    held = held.concat(more);
    const over = held.length - MOST;
    if (over > 0) {
      held = held.slice(over);
      lines.skip(over);
    }
    waiting.value = held.length;
  };
  return {
    ...{ lines, paused, waiting },
    take: (more) => (paused.peek() ? hold(more) : lines.append(more)),
    pause: () => (paused.value = true),
    resume: () => {
      paused.value = false;
      lines.append(held);
      held = [];
      waiting.value = 0;
    },
  };
}
