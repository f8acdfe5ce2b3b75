import { ConfigError } from '../errors.ts';

/** Environment variables by name; `.env` is merged in below them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads settings and collects every problem, so that a server lists all missing or wrong ones at
 * once. Values never appear in a problem.
 *
 * @example
 * const settings = createSettings(process.env);
 * const port = settings.number('PORT', { default: 8080, min: 0, max: 65535 });
 * settings.assert();
 */
export interface Settings {
  readonly env: Environment;
  readonly production: boolean;
  text(name: string): string | undefined;
  text(name: string, fallback: string): string;
  /** The value with its spaces, for secrets. */
  exact(name: string): string | undefined;
  /** A whole number. */
  number(
    name: string,
    options: { readonly default: number; readonly min?: number; readonly max?: number },
  ): number;
  flag(name: string, fallback: boolean): boolean;
  /** Every setting that was read so far, with its default. */
  readonly asked: ReadonlyMap<string, unknown>;
  /** Where a setting comes from; null when it is not set. */
  sourceOf(name: string): 'environment' | '.env' | null;
  /** Adds a problem: one line with the setting's name, what is wrong and how to fix it. */
  problem(line: string): void;
  /** Throws a `ConfigError` with every problem so far, if there is one. */
  assert(): void;
}

const TRUE = new Set(['1', 'true', 'on', 'yes']);
const FALSE = new Set(['0', 'false', 'off', 'no']);

/** @param given the names that the process's own environment has; the others are of `.env`. */
export function createSettings(env: Environment, given?: ReadonlySet<string>): Settings {
  const problems: string[] = [];
  const asked = new Map<string, unknown>();
  const read = (name: string, fallback?: unknown) => {
    if (fallback !== undefined || !asked.has(name)) asked.set(name, fallback);
    return env[name]?.trim() || undefined;
  };
  return {
    env,
    asked,
    sourceOf: (name) => {
      if (!env[name]?.trim()) return null;
      return given && !given.has(name) ? '.env' : 'environment';
    },
    production: (read('NODE_ENV') ?? read('ENV')) === 'production',
    text: ((name: string, fallback?: string) =>
      read(name, fallback) ?? fallback) as Settings['text'],
    exact: (name) => (read(name), env[name]),
    number: (name, options) => readNumber(name, read(name, options.default), options, problems),
    flag: (name, fallback) => readFlag(name, read(name, fallback), fallback, problems),
    problem: (line) => void problems.push(line),
    assert: () => {
      if (problems.length > 0) throw new ConfigError(problems);
    },
  };
}

function readNumber(
  name: string,
  text: string | undefined,
  {
    default: fallback,
    min = -Infinity,
    max = Infinity,
  }: { default: number; min?: number; max?: number },
  problems: string[],
): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  problems.push(`${name} must be a whole number from ${min} to ${max}`);
  return fallback;
}

function readFlag(
  name: string,
  text: string | undefined,
  fallback: boolean,
  problems: string[],
): boolean {
  if (text === undefined) return fallback;
  if (TRUE.has(text.toLowerCase())) return true;
  if (FALSE.has(text.toLowerCase())) return false;
  problems.push(`${name} must be on or off`);
  return fallback;
}
