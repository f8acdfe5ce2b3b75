import type { ComponentChildren } from 'preact';
import { t } from '../messages.ts';
import { type AnsiPart, ansiParts } from './ansi.ts';
import type { LogLine } from './log-lines.ts';
import { formatTimeOfDay } from './time.tsx';

/** The most pieces of a row that are elements, so that the document stays small. */
const ROW_PIECES = 12;
/** The same of the line that is opened. */
const OPENED_PIECES = 5000;
/** Characters of a line that a row shows; all of them are seen when the line is opened. */
const MOST_TEXT = 2000;

interface LogRowProps {
  readonly line: LogLine;
  readonly opened: boolean;
  readonly open: (line: LogLine) => void;
}

/** One line in one row: its time, its level, and its text up to the first line end. */
export function LogRow({ line, open, opened }: LogRowProps) {
  const { time, level, text } = line;
  const end = text.indexOf('\n');
  const first = end < 0 ? text : text.slice(0, end);
  const more = end < 0 ? 0 : text.split('\n').length - 1;
  return (
    <div class={opened ? 'log-row opened' : 'log-row'} onClick={() => select(line, open)}>
      {time && <time class="log-time">{timeOf(time)}</time>}
      {level && <span class={`log-level ${level}`}>{level}</span>}
      <span class="log-text">{shortened(first)}</span>
      {more > 0 && <span class="log-more">{t('+{n} lines', { n: more })}</span>}
    </div>
  );
}

/** A click that ends a selection of text opens nothing. */
function select(line: LogLine, open: LogRowProps['open']): void {
  if (getSelection()?.isCollapsed !== false) open(line);
}

/** The local time of day. A text that is no time stays as it is. */
const timeOf = (time: string): string =>
  Number.isNaN(Date.parse(time)) ? time : formatTimeOfDay(time);

/** A whole text in its ANSI colours. A carriage return stays in the text and is made visible. */
export const coloured = (text: string): ComponentChildren => drawn(piecesOf(text), OPENED_PIECES);

/**
 * The text of a row. A progress bar writes each state over the last, so of a long line with carriage
 * returns the end is shown.
 */
function shortened(line: string): ComponentChildren {
  if (!line.includes('\r')) return drawn(piecesOf(line.slice(0, MOST_TEXT)), ROW_PIECES);
  const end = line.length > MOST_TEXT ? endOf(line) : line;
  const pieces = piecesOf(end);
  const shown = pieces.slice(-ROW_PIECES);
  const isWhole = end === line && shown.length === pieces.length;
  return [!isWhole && <span class="log-more">…</span>, drawn(shown, ROW_PIECES)];
}

/** The last writings of a line, or the beginning of the last when that is long itself. */
function endOf(line: string): string {
  const end = line.slice(-MOST_TEXT);
  const at = end.indexOf('\r');
  return at < 0 ? line.slice(line.lastIndexOf('\r')).slice(0, MOST_TEXT) : end.slice(at);
}

/** A text cut at each change of colour and before each carriage return. */
const piecesOf = (text: string): AnsiPart[] =>
  ansiParts(text).flatMap(({ text: part, classes }) =>
    part.split(/(?=\r)/).map((piece) => ({ text: piece, classes })),
  );

/** The pieces after the first `most` are plain text. */
function drawn(pieces: readonly AnsiPart[], most: number): ComponentChildren {
  const rest = pieces.slice(most).map(({ text }) => text);
  return [
    ...pieces.slice(0, most).map(({ text, classes }, at) =>
      classes === '' ? (
        marked(text)
      ) : (
        <span key={at} class={classes}>
          {marked(text)}
        </span>
      ),
    ),
    rest.join(''),
  ];
}

function marked(text: string): ComponentChildren {
  if (!text.startsWith('\r')) return text;
  return [<span class="log-return">{'\r'}</span>, text.slice(1)];
}
