import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { bearer, type TestServer } from './server.ts';

const STEP = 30_000;

/** An app that shows TOTP codes: RFC 6238 by hand, so that no library is compared with itself. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function fromBase32(text: string): Buffer {
  const bits = [...text].map((each) => ALPHABET.indexOf(each).toString(2).padStart(5, '0'));
  const bytes = bits.join('').match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((each) => Number.parseInt(each, 2)));
}

/** The code of a secret at a time in milliseconds; `steps` later or earlier. */
export function codeAt(secret: string, now: number, steps = 0): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000) + steps));
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const offset = mac[19]! & 15;
  const value = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(value % 1_000_000).padStart(6, '0');
}

/** A user with TOTP on. `code` is one that was not used yet. */
export interface Member {
  readonly email: string;
  readonly id: number;
  token: string;
  readonly secret: string;
  readonly recoveryCodes: string[];
}

export async function enableTotp(server: TestServer, token: string) {
  const start = await server.call('POST', '/api/auth/totp', {}, bearer(token));
  expect(start.status).toBe(200);
  const { secret } = start.body as { secret: string };
  const confirm = await server.call(
    'POST',
    '/api/auth/totp/confirm',
    { code: codeAt(secret, server.kernel.now()) },
    bearer(token),
  );
  expect([confirm.status, confirm.body.recovery_codes?.length]).toEqual([200, 10]);
  return { secret, recoveryCodes: confirm.body.recovery_codes as string[] };
}

export async function memberOf(server: TestServer, email?: string): Promise<Member> {
  const { body } = await server.register(email);
  const { secret, recoveryCodes } = await enableTotp(server, body.accessToken);
  // The confirmed code was used up.
  server.advance(STEP);
  return { email: body.email, id: body.id, token: body.accessToken, secret, recoveryCodes };
}

/** The token of the newest mail in the log. */
export async function mailedToken(server: TestServer, path: string): Promise<string> {
  for (let tries = 0; tries < 100; tries += 1) {
    const tokens = server.logs.join('').match(new RegExp(`${path}\\?token=([\\w-]+)`, 'g'));
    if (tokens) return tokens.at(-1)!.split('=')[1]!;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`no mail with ${path}`);
}

/** The code of the newest mail to an address in the log. */
export async function mailedCode(server: TestServer, to: string): Promise<string> {
  for (let tries = 0; tries < 100; tries += 1) {
    const mails = server.logs
      .map((line) => JSON.parse(line) as { mail?: { to: string; text: string } })
      .flatMap(({ mail }) => (mail?.to === to ? [/\b(\d{6})\b/.exec(mail.text)?.[1]] : []))
      .filter((code) => code !== undefined);
    if (mails.length > 0) return mails.at(-1)!;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`no mail with a code to ${to}`);
}
