import { posix } from 'node:path';
import { BELOW, parsePattern, SLASH, type Token } from './ignore-pattern.ts';
import { quote, refuse } from '../archives/refuse.ts';

/** A state of the automaton: the indexes in `tokens` that the patterns have reached. */
interface State {
  readonly places: readonly number[];
  readonly ignored: boolean;
  /** The following states by character, as far as they were needed. */
  readonly next: Map<string, State>;
}

/** The tokens of all rules, one rule after another. */
interface Automaton {
  readonly tokens: readonly Token[];
  /**
   * The result of a rule, by the index at which it has matched: twice the rule's number, plus one
   * if it ignores the path.
   */
  readonly verdicts: ReadonlyMap<number, number>;
  readonly starts: readonly number[];
}

const MAX_RULES = 5000;
/** The most token indexes to visit for one archive: about 0.3 s. Most need a thousandth. */
const MAX_WORK = 3_000_000;
/** The most token indexes to keep in states at a time: about 30 MB. */
const MAX_KEPT = 1_000_000;

/**
 * Reads the rules of a `.dockerignore` as Docker does (moby/patternmatcher). @returns whether a
 * path is left out of the build. The last rule that matches the path or a folder above it decides;
 * `!` includes it again.
 *
 * All rules form one automaton, and its states are created when they are needed, so a path costs
 * time in proportion to its length, whatever the patterns are. The number of states is limited,
 * because malicious rules could need very many.
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
  const { startOf, follow } = createStates(buildAutomaton(lines));
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

/**
 * Normalises the patterns and keeps their `!`. `#` begins a comment only as the first character of
 * a line.
 */
function linesOf(text: string): string[] {
  return text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.trim())
    .map((line) => (line.startsWith('!') ? `!${clean(line.slice(1).trim())}` : clean(line)))
    .filter((line) => line !== '');
}

function buildAutomaton(lines: readonly string[]): Automaton {
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
    // The rule matches at the end of its own tokens, and at every path below a matching folder.
    verdicts.set(tokens.length, verdict).set(tokens.length + 1, verdict);
    tokens.push(SLASH, BELOW);
  }
  return { tokens, verdicts, starts };
}

/**
 * Cleans slashes and dots like Go's `filepath.Clean`. The result is relative to the root of the
 * source.
 */
const clean = (pattern: string): string =>
  pattern === '' ? '' : posix.normalize(pattern).replace(/\/$/, '').replace(/^\//, '');

/** Creates the automaton's states when they are needed (a lazy DFA). */
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
