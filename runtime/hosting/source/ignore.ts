import { posix } from 'node:path';
import { BELOW, parsePattern, SLASH, type Token } from './ignore-pattern.ts';
import { quote, refuse } from './refuse.ts';

/**
 * A state of all rules' patterns together: a token number for each place that one of them has come
 * to.
 */
interface State {
  readonly places: readonly number[];
  readonly ignored: boolean;
  /** The states that follow, by character, as far as they were needed. */
  readonly next: Map<string, State>;
}

/** The tokens of all rules, one after another. */
interface Automaton {
  readonly tokens: readonly Token[];
  /** Of a place where a rule has matched: the rule's number times two, plus one when it ignores. */
  readonly verdicts: ReadonlyMap<number, number>;
  readonly starts: readonly number[];
}

const MAX_RULES = 5000;
/** Places looked at for one archive: about 0.3 s. Ordinary rules need a thousandth of it. */
const MAX_WORK = 3_000_000;
/** Places that are kept in states at a time: about 30 MB. */
const MAX_KEPT = 1_000_000;

/**
 * The rules of a `.dockerignore` as Docker reads them (moby/patternmatcher): a test for paths that
 * stay out of the build. The last rule that matches the path or a folder above it decides; `!` lets
 * in again.
 *
 * All rules run as one automaton, whose states are made when they are first needed: a path costs
 * its length, whatever the patterns are. Making states is bounded, since they can be many for rules
 * that were written to that end.
 *
 * @throws AppError 422 for a pattern that Docker refuses too; the test throws 422 when the rules
 * are too much work.
 * @example
 * const isIgnored = parseIgnore('node_modules\n*.log\n!keep.log');
 * isIgnored('node_modules/a.js') // true
 */
export function parseIgnore(text: string): (path: string) => boolean {
  const lines = linesOf(text);
  if (lines.length > MAX_RULES) throw refuse(`.dockerignore has more than ${MAX_RULES} rules`);
  const { startOf, follow } = createStates(combine(lines));
  let folder = '';
  let after: State | null = null;
  return (path) => {
    const name = path.lastIndexOf('/') + 1;
    if (after === null || path.slice(0, name) !== folder) {
      folder = path.slice(0, name);
      after = follow(startOf(), folder);
    }
    return follow(after, path.slice(name)).ignored;
  };
}

/** Patterns in one form, with their `!`. Only a `#` that begins the line makes a comment. */
function linesOf(text: string): string[] {
  return text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.trim())
    .map((line) => (line.startsWith('!') ? `!${clean(line.slice(1).trim())}` : clean(line)))
    .filter((line) => line !== '');
}

function combine(lines: readonly string[]): Automaton {
  const tokens: Token[] = [];
  const verdicts = new Map<number, number>();
  const starts: number[] = [];
  for (const [number, line] of lines.entries()) {
    const keeps = line.startsWith('!');
    const pattern = parsePattern(keeps ? line.slice(1) : line);
    if (!pattern || line === '!')
      throw refuse(`.dockerignore has a pattern that cannot be read: ${quote(line)}`);
    starts.push(tokens.length);
    tokens.push(...pattern);
    const verdict = number * 2 + (keeps ? 0 : 1);
    // The whole path matched; then the slash after a folder that matched, and what lies below it.
    verdicts.set(tokens.length, verdict).set(tokens.length + 1, verdict);
    tokens.push(SLASH, BELOW);
  }
  return { tokens, verdicts, starts };
}

/** Slashes and dots as Go's `filepath.Clean` leaves them, below the root of the source. */
const clean = (pattern: string): string =>
  pattern === '' ? '' : posix.normalize(pattern).replace(/\/$/, '').replace(/^\//, '');

/** The automaton's states, made as they are needed (a lazy DFA). */
function createStates({ tokens, verdicts, starts }: Automaton) {
  let known = new Map<string, State>();
  let kept = 0;
  let work = 0;
  let start: State | null = null;

  const add = (places: Set<number>, place: number): void => {
    if (places.has(place)) return;
    places.add(place);
    for (const skip of tokens[place]?.skips ?? []) add(places, place + skip);
  };

  const stateOf = (found: Set<number>): State => {
    const places = [...found].sort((a, b) => a - b);
    const key = places.join(',');
    const existing = known.get(key);
    if (existing) return existing;
    const last = places.reduce((most, place) => Math.max(most, verdicts.get(place) ?? -1), -1);
    const state = { places, ignored: last >= 0 && last % 2 === 1, next: new Map() };
    known.set(key, state);
    kept += places.length;
    return state;
  };

  const make = ({ places }: State, char: string): State => {
    work += places.length + 1;
    if (work > MAX_WORK)
      throw refuse('.dockerignore is too complex for so many files: use fewer or simpler patterns');
    const found = new Set<number>();
    for (const place of places) {
      const token = tokens[place];
      if (!token?.takes(char)) continue;
      add(found, token.repeats ? place : place + 1);
    }
    return stateOf(found);
  };

  return {
    startOf(): State {
      if (kept > MAX_KEPT) {
        known = new Map();
        [start, kept] = [null, 0];
      }
      if (start) return start;
      const places = new Set<number>();
      for (const place of starts) add(places, place);
      return (start = stateOf(places));
    },
    follow(from: State, text: string): State {
      let state = from;
      for (const char of text) {
        let next = state.next.get(char);
        if (!next) state.next.set(char, (next = make(state, char)));
        state = next;
      }
      return state;
    },
  };
}
