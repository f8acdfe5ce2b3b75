import { createHash } from 'node:crypto';

/** The texts of the trusted documents by their SHA-256. */
export type TrustedList = ReadonlyMap<string, string>;

/** One line of the file: a hash and a text, each as a JSON string. */
const LINE = /^\s*("(?:[^"\\]|\\.)*")\s*:\s*("(?:[^"\\]|\\.)*")\s*,?\s*$/;

/** Lines that hold no entry: the braces, and what git writes into a merge with conflicts. */
const OTHER_LINE = /^\s*[{}]?\s*$|^(<{7}|\|{7}|={7}|>{7})( .*)?$/;

/**
 * Reads the list: a map of texts by their SHA-256, or a list of texts.
 *
 * @returns what is wrong with it, as a sentence, if it is no such file or a text is not that of its
 * hash.
 */
export function parseList(text: string | null): TrustedList | string {
  if (text === null) return new Map();
  const content = contentOf(text);
  if (content === null) return 'it is neither a map of texts by their SHA-256 nor a list of texts';
  const wrong = content.find(([hash, each]) => sha256(each) !== hash);
  return wrong ? `the text at ${wrong[0]} does not have that SHA-256` : new Map(content);
}

/** Hashes as they are written in the file may begin with `sha256:`. */
function contentOf(text: string): (readonly [hash: string, text: string])[] | null {
  const content = jsonOf(text);
  if (content === undefined) return mergedLines(text);
  if (typeof content !== 'object' || content === null) return null;
  if (!Object.values(content).every((each) => typeof each === 'string')) return null;
  return Array.isArray(content)
    ? content.map((each: string) => [sha256(each), each])
    : Object.entries(content as Record<string, string>).map(asEntry);
}

const asEntry = ([hash, text]: readonly [string, string]) =>
  [hash.replace(/^sha256:/, '').toLowerCase(), text] as const;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The entries of both sides of a git merge, which leaves markers or commas that JSON does not
 * allow. Null if anything else is wrong with the text. Every entry proves itself by its hash.
 */
function mergedLines(text: string): (readonly [hash: string, text: string])[] | null {
  const lines = text.split(/\r?\n/);
  const entries = lines.map((line) => LINE.exec(line));
  if (!entries.some((entry) => entry !== null)) return null;
  if (!lines.every((line, at) => entries[at] !== null || OTHER_LINE.test(line))) return null;
  return entries.flatMap((entry) =>
    entry ? [asEntry([String(jsonOf(entry[1]!)), String(jsonOf(entry[2]!))])] : [],
  );
}

/** One line for each document, sorted by hash. */
export function printList(list: TrustedList): string {
  const sorted = [...list].sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`;
}

/** What is known of an entry without a source, to decide whether it stays in the list. */
export interface ListHistory {
  /** The list as it is in the folder. */
  readonly before: TrustedList;
  /** Hashes of the list in the last commit. Clients that were released may send them. */
  readonly committed: ReadonlySet<string>;
  /** Hashes that runs in this folder added since. */
  readonly addedHere: ReadonlySet<string>;
}

/** The list after a run, and hashes by what happened to them. */
export interface NextList {
  readonly list: TrustedList;
  readonly live: readonly string[];
  /** Entries that have lost their source. */
  readonly retired: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/**
 * The list with every live document. An entry that lost its source goes only if a run in this
 * folder added it and it was never committed; every other one stays, as a retired one.
 */
export function nextList(live: TrustedList, history: ListHistory): NextList {
  const { before, committed, addedHere } = history;
  const gone = [...before.keys()].filter((hash) => !live.has(hash));
  const removed = gone.filter((hash) => addedHere.has(hash) && !committed.has(hash));
  const list = new Map([...before, ...live]);
  for (const hash of removed) list.delete(hash);
  return {
    list,
    live: [...live.keys()],
    retired: gone.filter((hash) => list.has(hash)),
    added: [...live.keys()].filter((hash) => !before.has(hash)),
    removed,
  };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
