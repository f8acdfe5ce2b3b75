import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** Checks the `Authorization` header of requests. */
export interface PasswordCheck {
  /** `busy`: too many unknown passwords are being checked. */
  check(
    header: string | undefined,
    users: readonly { readonly user: string; readonly hash: string }[],
  ): boolean | Promise<boolean | 'busy'>;
}

/** Costs of scrypt: about 30 ms and 16 MiB for one password. */
const COST = { N: 16_384, r: 8, p: 1 };
const KEY_LENGTH = 32;
/** Results that are remembered, so that a browser's later requests cost one SHA-256. */
const MAX_REMEMBERED = 2000;
/** Hashes that are computed at once, so that threads stay free for the rest of the process. */
const MAX_RUNNING = 2;
const MAX_WAITING = 50;

/** @returns a hash of the form `scrypt$<salt>$<key>`, both in base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt);
  return `scrypt$${salt.toString('base64url')}$${key.toString('base64url')}`;
}

export function createPasswordCheck(): PasswordCheck {
  const known = new Map<string, boolean>();
  const waiting: (() => void)[] = [];
  let running = 0;

  const verify = async (password: string, hash: string): Promise<boolean> => {
    if (running >= MAX_RUNNING) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return await matches(password, hash);
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
  return {
    check(header, users) {
      const given = parseBasic(header);
      if (!given) return false;
      const entry = users.find(({ user }) => user === given.user);
      const hash = entry?.hash ?? UNKNOWN_USER;
      const key = createHash('sha256').update(`${hash}\n${header}`).digest('base64');
      const before = known.get(key);
      if (before !== undefined) return before;
      if (waiting.length >= MAX_WAITING) return Promise.resolve('busy' as const);
      return verify(given.password, hash).then((is) => {
        if (known.size >= MAX_REMEMBERED) known.delete(known.keys().next().value as string);
        const isRight = is && entry !== undefined;
        known.set(key, isRight);
        return isRight;
      });
    },
  };
}

/** The hash of an unknown password, so that a wrong name takes as long as a wrong password. */
const UNKNOWN_USER = `scrypt$${'A'.repeat(22)}$${'A'.repeat(43)}`;

async function matches(password: string, hash: string): Promise<boolean> {
  const [, salt = '', key = ''] = hash.split('$');
  const derived = await derive(password, Buffer.from(salt, 'base64url'));
  const expected = Buffer.from(key, 'base64url');
  return derived.length === expected.length && timingSafeEqual(derived, expected);
}

const derive = (password: string, salt: Buffer) =>
  new Promise<Buffer>((resolve, reject) =>
    scrypt(password.normalize('NFC'), salt, KEY_LENGTH, COST, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  );

/** The name and the password of `Basic` (RFC 7617). A name has no colon. */
function parseBasic(
  header: string | undefined,
): { readonly user: string; readonly password: string } | null {
  const encoded = /^basic +([A-Za-z0-9+/_=-]+)$/i.exec(header ?? '')?.[1];
  if (encoded === undefined || encoded.length > 2000) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
