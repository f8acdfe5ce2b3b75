import { failure } from '@twofold/runtime/errors';
import { reply } from '@twofold/runtime/http';
import { list, object } from '@twofold/schema/shapes';
import { asUser, callerOf } from '../base/caller.ts';
import { devicesOf, showDevice } from '../second-factor/devices.ts';
import { checkText } from '../base/identity-rules.ts';
import { signedInAccount } from '../requests/proof.ts';
import { flow, SIGNED_IN } from './flow.ts';
import { SHORT, TIME, WHOLE } from './shapes.ts';

const DEVICE = object({
  id: SHORT,
  name: SHORT,
  created_at: TIME,
  last_used_at: TIME,
  ip: SHORT,
});

export const devices = flow('GET /api/auth/devices', {
  needs: 'session',
  summary: 'Own devices that need no second factor',
  answers: {
    200: ['The devices', object({ devices: list(DEVICE), total: WHOLE })],
  },
  refuses: SIGNED_IN,
  async handle({ context }, auth) {
    const { account } = await signedInAccount(auth, context);
    const devices = (await devicesOf(auth, auth.db, account.id)).map(showDevice);
    return reply(200, { devices, total: devices.length });
  },
});

export const renameDevice = flow('PATCH /api/auth/devices/:id', {
  needs: 'session',
  summary: 'Give a remembered device another name',
  body: object({ name: SHORT }, ['name']),
  answers: { 200: ['The device', DEVICE] },
  refuses: { 404: 'Device not found', ...SIGNED_IN },
  async handle({ context, params, body }, auth) {
    const { db } = auth;
    const { account } = await signedInAccount(auth, context);
    const name = checkText('name', body.name);
    if (!name) throw failure.badRequest('name is required');
    const row = await db
      .updateTable('auth_remembered_devices')
      .set({ name })
      .where('id', '=', params.id)
      .where('user_id', '=', account.id)
      .where('expires_at', '>', auth.now())
      .returningAll()
      .executeTakeFirst();
    if (!row) throw notFound();
    return reply(200, showDevice(row));
  },
});

export const forgetDevice = flow('DELETE /api/auth/devices/:id', {
  needs: 'session',
  summary: 'Forget a device; it needs a second factor again',
  answers: { 204: ['Forgotten'] },
  refuses: { 404: 'Device not found', ...SIGNED_IN },
  async handle({ context, params }, auth) {
    const { account } = await signedInAccount(auth, context);
    await auth.events.transact(asUser(callerOf(context), account.id), async ({ trx, emit }) => {
      const row = await trx
        .deleteFrom('auth_remembered_devices')
        .where('id', '=', params.id)
        .where('user_id', '=', account.id)
        .returning(['id', 'name'])
        .executeTakeFirst();
      if (!row) throw notFound();
      emit('device.forgotten', account.id, { device_id: row['id'], name: row['name'] });
    });
    return reply(204);
  },
});

const notFound = () => failure.notFound('Device not found');
