import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { AuthModel } from '@twofold/schema';
import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { failure } from '@twofold/runtime/errors';
import type { Breached } from './breached-passwords.ts';

/** Data of the user that the password must not contain. */
export interface PasswordSubject {
  readonly email?: string;
  readonly name?: string;
  readonly first_name?: string;
  readonly last_name?: string;
  readonly username?: string | null;
}

/** The result for one password. `reason` is set when the password is refused. */
export interface Strength {
  readonly score: number;
  readonly acceptable: boolean;
  readonly reason?: string;
}

export interface PasswordPolicy {
  readonly rules: {
    readonly min: number;
    readonly max: number;
    readonly score: number;
    readonly composition: false;
  };
  judge(password: string, subject?: PasswordSubject): Strength;
  /** Like `judge`, but it also asks the lists of breached passwords. @throws AppError 503. */
  judgeFully(password: string, subject?: PasswordSubject): Promise<Strength>;
  /** @throws AppError 400 with the reason, 503 */
  assert(password: string, subject?: PasswordSubject): Promise<void>;
  /** Loads the estimator at start, about 100 ms, so that no login has to wait for it. */
  warm(): void;
}

/**
 * zxcvbn runs on the event loop. Its time grows with the square of the length, times the number of
 * ways to read digits and signs as letters (leet). With its default of 100 readings, 64 hostile
 * characters took 160 ms. With these two bounds it takes less than 10 ms of CPU, and 4 ms once
 * compiled. They change the result of 1 in 100 leet spellings of common words.
 */
const MAX_ESTIMATED_LENGTH = 32;
const MAX_LEET_READINGS = 20;
const PASSPHRASE_LENGTH = 40;
/**
 * Passwords that run all parts of the estimator, so that V8 compiles it before the first request.
 */
const WARM_UP_PASSWORDS = [
  'correct horse battery',
  'p@ssw0rdp@ssw0rdp@ssw0rdp@ssw0rd',
  '211212212112/11.2012 qwerty',
  '11111111111111111111111111111111',
];
const PASSPHRASE_CHARACTERS = 10;
const MAX_BYTES = 1024;
const MIN_WORD_LENGTH = 4;

/**
 * The password policy of NIST SP 800-63B-4 and ASVS 6.2: length, a list of common passwords,
 * context words, and a strength estimate. There are no composition rules.
 */
export function createPasswordPolicy(
  options: AuthModel['password'],
  contextWords: readonly string[],
  breached?: Breached,
): PasswordPolicy {
  const words = [...options.contextWords, ...contextWords];
  let loaded: ReturnType<typeof loadDictionaries> | undefined;
  const dictionaries = () => (loaded ??= loadDictionaries());
  const judge: PasswordPolicy['judge'] = (password, subject = {}) => {
    const { min, max, score: needed } = options;
    const length = [...password].length;
    const refused = (reason: string, score = 0): Strength => ({ score, acceptable: false, reason });
    if (length < min) return refused(`Password must be at least ${min} characters`);
    if (length > max || Buffer.byteLength(password) > MAX_BYTES)
      return refused(`Password must be at most ${max} characters`);
    if (dictionaries().common.has(password.toLowerCase())) return refused('Password is too common');
    if (containsWord(password, subject, words))
      return refused('Password must not contain your name, username or email');
    const score = estimate(dictionaries().zxcvbn, password);
    return score < needed ? refused('Password is too weak', score) : { score, acceptable: true };
  };
  const judgeFully: PasswordPolicy['judgeFully'] = async (password, subject) => {
    const strength = judge(password, subject);
    if (!strength.acceptable || !breached || !(await isBreached(breached, password)))
      return strength;
    return { score: 0, acceptable: false, reason: 'Password is too common' };
  };
  return {
    rules: { min: options.min, max: options.max, score: options.score, composition: false },
    judge,
    judgeFully,
    assert: async (password, subject) => {
      const { reason } = await judgeFully(password, subject);
      if (reason) throw failure.invalid(reason);
    },
    warm: () => WARM_UP_PASSWORDS.forEach((text) => void estimate(dictionaries().zxcvbn, text)),
  };
}

async function isBreached(breached: Breached, password: string): Promise<boolean> {
  const hash = createHash('sha1').update(password).digest('hex').toUpperCase();
  const suffixes = await breached(hash.slice(0, 5));
  return suffixes.some((suffix) => suffix.toUpperCase() === hash.slice(5));
}

/** Loaded on first use, because the lists take 22 MB that a server without logins does not need. */
function loadDictionaries(): { zxcvbn: ZxcvbnFactory; common: ReadonlySet<string> } {
  const require = createRequire(import.meta.url);
  const { ZxcvbnFactory: Factory } = require('@zxcvbn-ts/core') as typeof import('@zxcvbn-ts/core');
  const { dictionary, adjacencyGraphs } =
    require('@zxcvbn-ts/language-common') as typeof import('@zxcvbn-ts/language-common');
  return {
    zxcvbn: new Factory({
      dictionary,
      graphs: adjacencyGraphs,
      l33tMaxSubstitutions: MAX_LEET_READINGS,
    }),
    common: new Set(dictionary['passwords-common']),
  };
}

function estimate(zxcvbn: ZxcvbnFactory, password: string): number {
  if (password.length > PASSPHRASE_LENGTH && new Set(password).size >= PASSPHRASE_CHARACTERS)
    return 4;
  return zxcvbn.check(password.slice(0, MAX_ESTIMATED_LENGTH)).score;
}

function containsWord(
  password: string,
  subject: PasswordSubject,
  words: readonly string[],
): boolean {
  const { email, name, first_name, last_name, username } = subject;
  const lower = password.toLowerCase();
  return [
    email?.split('@')[0],
    username,
    first_name,
    last_name,
    ...(name?.split(/\s+/) ?? []),
    ...words,
  ].some((word) => {
    const folded = word?.trim().toLowerCase() ?? '';
    return folded.length >= MIN_WORD_LENGTH && lower.includes(folded);
  });
}
