import { failure } from '@twofold/runtime/errors';

/** What is wrong with a compose file, each with its path: `services.web.privileged`. */
export interface Problems {
  add(path: string, why: string): void;
  /** @throws AppError 422 that names every path. */
  assertNone(): void;
}

const MOST_SHOWN = 40;

export function createProblems(): Problems {
  const found: string[] = [];
  return {
    add(path, why) {
      const line = `${path} ${why}`;
      if (!found.includes(line)) found.push(line);
    },
    assertNone() {
      if (found.length === 0) return;
      const rest = found.length - MOST_SHOWN;
      const shown = found.slice(0, MOST_SHOWN).join('; ');
      throw failure.unprocessable(rest > 0 ? `${shown}; and ${rest} more` : shown);
    },
  };
}

/** A value of the file with its path. */
export interface Entry {
  readonly path: string;
  readonly value: unknown;
}

export const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names for people, as in `services.my.key`: a key with a dot or a space is quoted. */
export const below = (path: string, key: string | number): string => {
  if (typeof key === 'number') return `${path}[${key}]`;
  const plain = /^[\w-]{1,100}$/.test(key) ? key : JSON.stringify(key.slice(0, 100));
  return path === '' ? plain : `${path}.${plain}`;
};

/** The members of a mapping. A value that is none, and keys that are not listed, are problems. */
export function membersOf(
  { path, value }: Entry,
  problems: Problems,
  allowed?: readonly string[],
): Map<string, Entry> {
  if (!isMapping(value)) {
    problems.add(path, 'must be a mapping of keys to values');
    return new Map();
  }
  const members = new Map<string, Entry>();
  for (const [key, member] of Object.entries(value)) {
    const at = below(path, key);
    if (allowed && !allowed.includes(key)) {
      if (!key.startsWith('x-')) problems.add(at, 'is not supported');
    } else members.set(key, { path: at, value: member });
  }
  return members;
}

/** The items of a list; a single value counts as a list of one. */
export function itemsOf({ path, value }: Entry): Entry[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) return [{ path, value }];
  return value.map((item, index) => ({ path: below(path, index), value: item }));
}
