import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { asUser, callerOf } from '../requests/caller.ts';
import { checkText } from '../sign-in/identity-rules.ts';
import type { AuthParts } from '../parts.ts';
import { signedInAccount } from '../steps/reauthentication.ts';
import { rfc3339 } from '../time.ts';
import { devicesOf } from './devices.ts';
import type { RowOf } from '../tables.ts';

/** Routes for the remembered devices of the signed-in user. */
export function deviceHandlers(parts: AuthParts) {
  return {
    devices: listHandler(parts),
    renameDevice: createRename(parts),
    forgetDevice: createForget(parts),
  };
}

const notFound = () => failure.notFound('Device not found');

function listHandler(parts: AuthParts): Handler {
  return async ({ context }) => {
    const { account } = await signedInAccount(parts, context);
    const devices = (await devicesOf(parts, parts.kernel.store.db, account.id)).map(showDevice);
    return reply(200, { devices, total: devices.length });
  };
}

function createRename(parts: AuthParts): Handler {
  const { db } = parts.kernel.store;
  return async ({ context, params, body }) => {
    const { account } = await signedInAccount(parts, context);
    const name = checkText('name', body.name);
    if (!name) throw failure.badRequest('name is required');
    const row = await db
      .updateTable('auth_remembered_devices')
      .set({ name })
      .where('id', '=', params['id'] ?? '')
      .where('user_id', '=', account.id)
      .where('expires_at', '>', parts.kernel.now())
      .returningAll()
      .executeTakeFirst();
    if (!row) throw notFound();
    return reply(200, showDevice(row));
  };
}

function createForget(parts: AuthParts): Handler {
  return async ({ context, params }) => {
    const { account } = await signedInAccount(parts, context);
    await parts.events.transact(asUser(callerOf(context), account.id), async (trx, emit) => {
      const row = await trx
        .deleteFrom('auth_remembered_devices')
        .where('id', '=', params['id'] ?? '')
        .where('user_id', '=', account.id)
        .returning(['id', 'name'])
        .executeTakeFirst();
      if (!row) throw notFound();
      emit('device.forgotten', account.id, { device_id: row['id'], name: row['name'] });
    });
    return reply(204);
  };
}

export const showDevice = ({
  id,
  name,
  created_at,
  last_used_at,
  ip,
}: RowOf<'auth_remembered_devices'>) => ({
  id,
  name,
  created_at: rfc3339(created_at),
  last_used_at: rfc3339(last_used_at),
  ip,
});
