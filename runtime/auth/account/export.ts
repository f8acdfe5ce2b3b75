import { Readable } from 'node:stream';
import { failure } from '@twofold/runtime/errors';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import { profileOf } from '../users/profile.ts';
import { keyView } from '../keys/key-changes.ts';
import { sessionView } from '../sessions/sessions.ts';
import type { AuthState } from '../state.ts';
import { assertProof } from '../requests/proof.ts';
import { passkeysOf, showPasskey } from '../passkeys/passkey-store.ts';
import { devicesOf, showDevice } from '../second-factor/devices.ts';
import { rfc3339 } from '../base/time.ts';
import type { Account } from '../users/user-directory.ts';
import { ownTypes, rowsOf } from './own-rows.ts';
import { attemptsOf, eventsOf, identitiesOf } from './own-logs.ts';
import { securityOf } from './security.ts';

/** How many exports a process makes at once, because each reads the whole data of a user. */
const MAX_EXPORTS = 4;
let running = 0;

/**
 * `GET /api/auth/me/export`: one JSON file with all data about the user. It is read and sent in
 * pieces, so that it never is in memory as a whole, and no faster than the client takes it.
 */
export async function exportAccount(auth: AuthState, { context }: Call): Promise<Reply> {
  const { account, sessionId } = await assertProof(auth, context);
  if (running >= MAX_EXPORTS)
    throw failure.unavailable(undefined, { headers: { 'Retry-After': '10' } });
  running += 1;
  const stream = Readable.from(texts(auth, account, sessionId), { objectMode: false });
  stream.once('close', () => (running -= 1));
  return reply(200, stream, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Disposition': `attachment; filename="account-${account.id}.json"`,
  });
}

async function* texts(
  auth: AuthState,
  account: Account,
  sessionId: string,
): AsyncGenerator<string> {
  const { db } = auth;
  const live = await auth.sessions.live(db, account.id);
  const head = {
    exported_at: rfc3339(auth.now()),
    me: {
      ...profileOf(auth, account),
      locale: account.locale,
    },
    security: await securityOf(auth, account),
    sessions: live.map((session) => sessionView(session, sessionId)),
    api_keys: (await auth.apiKeys.ofUser(db, account.id)).map(keyView),
    identities: await identitiesOf(db, account.id),
    passkeys: (await passkeysOf(db, account.id)).map(showPasskey),
    devices: (await devicesOf(auth, db, account.id)).map(showDevice),
  };
  yield JSON.stringify(head).slice(0, -1);
  yield* list('attempts', attemptsOf(db, account.id));
  yield* list('events', eventsOf(db, account.id));
  yield ',"data":{';
  for (const [index, type] of ownTypes(auth.project).entries()) {
    if (index > 0) yield ',';
    yield `${JSON.stringify(type.name)}:`;
    yield* items(rowsOf(auth.store, type, account));
  }
  yield '}}\n';
}

async function* list(name: string, rows: AsyncIterable<object[]>): AsyncGenerator<string> {
  yield `,"${name}":`;
  yield* items(rows);
}

/** A JSON array of all rows, a batch at a time; no batch is empty. */
async function* items(batches: AsyncIterable<object[]>): AsyncGenerator<string> {
  let before = '[';
  for await (const rows of batches) {
    yield before + rows.map((row) => JSON.stringify(row)).join(',');
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}
