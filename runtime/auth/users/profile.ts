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
