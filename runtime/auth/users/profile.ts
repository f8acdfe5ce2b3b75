import type { AuthModel } from '@twofold/schema';
import { numericOffset } from '../base/time.ts';
import type { Account } from './user-directory.ts';

/** The signed-in user in API responses. */
export interface Profile {
  readonly id: Account['id'];
  readonly first_name: string;
  readonly last_name: string;
  readonly username: string;
  readonly phone: string;
  readonly email: string;
  readonly role_id?: number;
  readonly role_name?: string;
  readonly avatar_url: string;
  readonly last_login: string;
}

interface ProfileSource {
  readonly model: Pick<AuthModel, 'roles'>;
  readonly now: () => number;
}

/** The user as `GET /api/auth/me` and a sign-in answer them. */
export function profileOf({ model, now }: ProfileSource, account: Account): Profile {
  const { id, first_name, last_name, username, phone, email, avatar_url, role } = account;
  return {
    ...{ id, first_name, last_name, username, phone, email },
    ...(model.roles && role && { role_id: role.id, role_name: role.name }),
    avatar_url,
    last_login: numericOffset(account.last_login ?? now()),
  };
}
