import { createHmac } from 'node:crypto';
import { availableParallelism } from 'node:os';
import bcrypt from 'bcrypt';
import { createSemaphore } from '@twofold/runtime/kernel';
import { randomToken } from '../base/ids.ts';

/** Hashes passwords with bcrypt, with a bound on concurrent hashes. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /**
   * Whether `password` matches the hash `stored`. Without a stored hash it compares with a dummy
   * hash, so that the time is the same for an unknown user, a user without a password and a wrong
   * password.
   */
  verify(password: string, stored: string | null): Promise<boolean>;
  /** Whether a stored hash was made with other parameters than the current ones. */
  outdated(stored: string): boolean;
}

export interface PasswordOptions {
  readonly cost: number;
  readonly concurrency: number | 'auto';
  readonly queue: number;
}

/** bcrypt uses only the first 72 bytes and silently ignores the rest. */
const BCRYPT_BYTES = 72;
const LONG_PREFIX = '$bcrypt-sha384$';
const FORMAT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;

/**
 * @example
 * const passwords = createPasswords({ cost: 10, concurrency: 'auto', queue: 64 });
 * await passwords.verify('correct horse', await passwords.hash('correct horse')); // true
 */
export function createPasswords(options: PasswordOptions): Passwords {
  const semaphore = createSemaphore(hashConcurrency(options.concurrency), options.queue);
  let dummy: Promise<string> | null = null;
  const decoy = () => (dummy ??= bcrypt.hash(randomToken(16), options.cost));
  const compareDecoy = async (password: string) =>
    void (await bcrypt.compare(prepare(password), await decoy()));
  return {
    hash: (password) => semaphore.run(() => hashPassword(password, options.cost)),
    verify: (password, stored) =>
      semaphore.run(async () => {
        if (!stored || !isHash(stored)) return compareDecoy(password).then(() => false);
        const right = await comparePassword(password, stored);
        // A hash with a lower cost compares faster, which would show that the user exists.
        if (!right && costOf(stored) < options.cost) await compareDecoy(password);
        return right;
      }),
    outdated: (stored) =>
      costOf(stored) !== options.cost ||
      (!stored.startsWith(LONG_PREFIX) && !stored.startsWith('$2b$')),
  };
}

/** The operator's hash. A plain `HOST_PASSWORD` is hashed once, on first use, with the current cost. */
export function operatorHash(
  given: { readonly hash: string } | { readonly password: string } | null,
  passwords: Pick<Passwords, 'hash'>,
): () => Promise<string> {
  if (given === null) return async () => '';
  if ('hash' in given) return async () => given.hash;
  let hash: Promise<string> | null = null;
  return () => {
    hash ??= passwords.hash(given.password);
    hash.catch(() => (hash = null));
    return hash;
  };
}

/** The number of hashes that run at once. It leaves threads of the pool free for files and DNS. */
export function hashConcurrency(
  option: number | 'auto',
  pool = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4),
): number {
  return option === 'auto' ? Math.max(1, Math.min(availableParallelism(), pool - 2)) : option;
}

async function hashPassword(password: string, cost: number): Promise<string> {
  const hash = await bcrypt.hash(prepare(password), cost);
  return isLong(password) ? LONG_PREFIX + hash : hash;
}

async function comparePassword(password: string, stored: string): Promise<boolean> {
  const long = stored.startsWith(LONG_PREFIX);
  if (long !== isLong(password))
    return bcrypt.compare(prepare(password), toBcryptHash(stored)).then(() => false);
  return bcrypt.compare(prepare(password), toBcryptHash(stored));
}

/**
 * Reduces a password that is over 72 bytes or contains a NUL to an HMAC first, so that every byte
 * counts. Other passwords are plain bcrypt, which other programs can verify.
 */
function prepare(password: string): string {
  return isLong(password)
    ? createHmac('sha384', 'generator/password/v1').update(password).digest('base64')
    : password;
}

function isLong(password: string): boolean {
  return Buffer.byteLength(password) > BCRYPT_BYTES || password.includes('\0');
}

/** PHP writes `$2y$` for `$2b$`, which the library does not match. */
function toBcryptHash(stored: string): string {
  const hash = stored.startsWith(LONG_PREFIX) ? stored.slice(LONG_PREFIX.length) : stored;
  return hash.startsWith('$2y$') ? `$2b$${hash.slice(4)}` : hash;
}

function isHash(stored: string): boolean {
  return FORMAT.test(toBcryptHash(stored));
}

function costOf(stored: string): number {
  return Number(FORMAT.exec(toBcryptHash(stored))?.[1] ?? 0);
}
