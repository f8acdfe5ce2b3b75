import { expect } from 'vitest';
import { bearer, type TestServer } from './server.ts';
import { codeAt } from './totp-code.ts';

export { codeAt, fromBase32 } from './totp-code.ts';

const STEP = 30_000;

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
