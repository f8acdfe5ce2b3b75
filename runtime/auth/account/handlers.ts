import { failure } from '@twofold/runtime/errors';
import { type Handler, reply } from '@twofold/runtime/http';
import { createChangePassword } from '../passwords/change-password.ts';
import type { UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { createReauthenticate } from '../steps/reauthenticate.ts';
import { deleteMe, restore } from './deletion.ts';
import { exportMe } from './export.ts';
import { updateMe } from './profile.ts';
import { showSecurity } from './security.ts';

/** Routes of the signed-in user's own account. */
export function accountHandlers(parts: AuthParts) {
  const { kernel, directory, signIn, policy } = parts;
  const me: Handler = async ({ context }) => {
    const [userId] = context.values.get<UserId>('user_id');
    const account = userId === undefined ? null : await directory.find(kernel.store.db, userId);
    if (!account) throw failure.notFound('User not found');
    return reply(200, signIn.profile(account, account.last_login ?? kernel.now()));
  };
  const passwordPolicy: Handler = () => reply(200, policy.rules);
  const passwordStrength: Handler = async ({ body }) =>
    reply(200, await policy.judgeFully(body.password));
  return {
    me,
    reauthenticate: createReauthenticate(parts),
    changePassword: createChangePassword(parts),
    passwordPolicy,
    passwordStrength,
    updateMe: updateMe(parts),
    security: showSecurity(parts),
    exportMe: exportMe(parts),
    deleteMe: deleteMe(parts),
    restore: restore(parts),
  };
}
