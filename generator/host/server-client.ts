import { parseEnv } from 'node:util';
import { CommandError, EXIT } from '../failure.ts';
import { localUrl } from './health.ts';

/** The API of the server on this machine, as its operator. */
export type HostClient = <T>(method: 'GET' | 'DELETE', path: string) => Promise<T>;

/**
 * Signs in with the password that the file of settings has.
 *
 * @throws CommandError when the server does not answer or does not take it.
 */
export async function openHost(envText: string): Promise<HostClient> {
  const url = localUrl(envText);
  const password = parseEnv(envText)['HOST_PASSWORD'];
  if (!password) throw refused('there is no HOST_PASSWORD in /etc/twofold/env', null);
  const { token } = await call<{ token: string }>(`${url}/api/auth/login`, {
    ...{ method: 'POST', body: JSON.stringify({ password }) },
    headers: { 'Content-Type': 'application/json' },
  });
  return (method, path) =>
    call(url + path, { method, headers: { Authorization: `Bearer ${token}` } });
}

async function call<T>(url: string, init: RequestInit): Promise<T> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(60_000) }).catch(
    (error: Error) => {
      throw refused(`the server at ${new URL(url).origin} does not answer`, error);
    },
  );
  const text = await response.text();
  if (!response.ok)
    throw refused(`the server answered ${response.status} to ${new URL(url).pathname}`, text);
  return (text === '' ? null : JSON.parse(text)) as T;
}

function refused(message: string, cause: unknown): CommandError {
  const error = new CommandError('SERVER_AWAY', {
    message,
    fix: 'systemctl start twofold; journalctl --unit twofold --lines 30',
    exit: EXIT.differs,
  });
  return Object.assign(error, { cause });
}
