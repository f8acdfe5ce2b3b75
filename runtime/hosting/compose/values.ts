import type { Entry, Problems } from './problems.ts';
import { posix } from 'node:path';

/** A text; numbers and booleans count as the text that they are written as. */
export function textOf({ path, value }: Entry, problems: Problems): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  problems.add(path, 'must be a text');
  return undefined;
}

export function numberOf({ path, value }: Entry, problems: Problems): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number) && number >= 0) return number;
  problems.add(path, 'must be a number');
  return undefined;
}

export function booleanOf({ path, value }: Entry, problems: Problems): boolean | undefined {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  problems.add(path, 'must be true or false');
  return undefined;
}

const DURATION = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?$/;

/** Seconds. @example secondsOf({ path, value: '1m30s' }, problems) // 90 */
export function secondsOf(entry: Entry, problems: Problems): number | undefined {
  const match = typeof entry.value === 'string' ? DURATION.exec(entry.value) : null;
  if (!match || match[0] === '') {
    problems.add(entry.path, 'must be a duration such as 1m30s');
    return undefined;
  }
  const [hours, minutes, seconds, milliseconds] = match.slice(1).map((part) => Number(part ?? 0));
  return hours! * 3600 + minutes! * 60 + seconds! + milliseconds! / 1000;
}

const SIZE = /^(\d+(?:\.\d+)?)\s*(b|k|kb|kib|m|mb|mib|g|gb|gib)?$/i;
const UNITS: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** Bytes. Compose counts in steps of 1024, whatever the letters. */
export function bytesOf({ path, value }: Entry, problems: Problems): number | undefined {
  const match = SIZE.exec(String(value));
  if (match) return Number(match[1]) * (UNITS[(match[2] ?? 'b')[0]!.toLowerCase()] as number);
  problems.add(path, 'must be a size such as 512m');
  return undefined;
}

/** A command: a list, or a text that is split at its spaces as a shell does. Null resets it. */
export function wordsOf(entry: Entry, problems: Problems): string[] | null | undefined {
  const { path, value } = entry;
  if (value === null) return null;
  if (typeof value === 'string') {
    const words = splitWords(value);
    if (!words) problems.add(path, 'has a quote that is not closed');
    return words ?? undefined;
  }
  if (Array.isArray(value) && value.every((word) => typeof word === 'string')) return [...value];
  problems.add(path, 'must be a text or a list of texts');
  return undefined;
}

const WORD = /\s*(?:((?:[^\s'"\\]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+)|$)/y;
const PART = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^'"\\]+)/g;

/**
 * Splits a command line by the quoting rules of POSIX shells, without running a shell. @returns
 * null for a quote without its end.
 */
function splitWords(text: string): string[] | null {
  const words: string[] = [];
  WORD.lastIndex = 0;
  while (WORD.lastIndex < text.length) {
    const match = WORD.exec(text);
    if (!match) return null;
    const [, raw] = match;
    if (raw === undefined) break;
    words.push(
      raw.replaceAll(PART, (_, single, double, escaped, plain) =>
        double === undefined
          ? (single ?? escaped ?? plain)
          : double.replaceAll(/\\(["\\$`])/g, '$1'),
      ),
    );
  }
  return words;
}

/** A path relative to the compose file. @returns undefined, with a problem, for one that is not. */
export function sourcePathOf(path: string, text: string, problems: Problems): string | undefined {
  const clean = posix.normalize(text).replace(/\/+$/, '');
  if (text.startsWith('/') || text.startsWith('~') || clean === '..' || clean.startsWith('../')) {
    problems.add(path, 'is a path of the host, and only paths below the compose file are taken');
    return undefined;
  }
  return clean === '.' ? '' : clean;
}

export const needsSource = ({ path }: Entry, problems: Problems) =>
  problems.add(path, 'needs the files beside the compose file: send them as source');
