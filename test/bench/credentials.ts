import { randomBytes } from 'node:crypto';
import { auth } from '@twofold/auth';
import { createServer, defineApp } from '@twofold/runtime';
import type { Project } from '@twofold/schema';
import { ORIGIN } from './shape.ts';

/** Access tokens of a user whom this server registered, in the database that a server of the benchmark gets. */
export interface Credentials {
  /** The session behind it is alive. */
  readonly token: string;
  /** Its signature is as good, but the session behind it was ended. */
  readonly ended: string;
}

/** Every server of a run checks signatures with this secret, which they inherit with the environment. */
process.env['JWT_SECRET'] ??= randomBytes(32).toString('base64');

const PERSON = {
  email: 'caller@example.org',
  password: 'correct horse battery staple',
  name: 'Caller',
};

/** Starts this server over a database, registers a user, signs in a second time and signs out again. */
export async function createCredentials(
  project: Project,
  databaseUrl: string,
): Promise<Credentials> {
  const app = defineApp({ project, capabilities: [auth()] });
  const { url, close } = await createServer(app).start('127.0.0.1:0', {
    env: {
      DATABASE_URL: databaseUrl,
      JWT_SECRET: process.env['JWT_SECRET'],
      APP_URL: ORIGIN,
    },
    logTo: { write: () => undefined },
  });
  try {
    const { token } = await register(url);
    const { accessToken: ended } = await post(`${url}/api/auth/login`, PERSON);
    await post(`${url}/api/auth/logout`, {}, { authorization: `Bearer ${ended}` });
    return { token, ended };
  } finally {
    await close();
  }
}

/** Registers a user on a running server. */
export async function register(url: string): Promise<Pick<Credentials, 'token'>> {
  const { accessToken: token } = await post(`${url}/api/auth/register`, PERSON);
  return { token };
}

async function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly accessToken: string }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new TypeError(`${url} answered ${response.status}: ${text}`);
  return text === '' ? { accessToken: '' } : (JSON.parse(text) as { accessToken: string });
}
