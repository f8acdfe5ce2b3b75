import { t } from '../../messages.ts';
import { can } from '../../parts/can.ts';
import { formatNumber } from '../../parts/time.tsx';

/** Answers of the routes below `/api/auth/admin`. */
export const ADMIN = '/api/auth/admin';

/** A user and the state of the account. */
export interface User {
  readonly id: string | number;
  readonly email: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly username: string;
  readonly phone: string;
  readonly role_id?: number;
  readonly role_name?: string;
  readonly permissions?: readonly string[];
  /** The type of the project whose row the user is. */
  readonly row?: { readonly type: string; readonly plural: string };
  readonly created_at: string | null;
  readonly last_login: string | null;
  readonly email_verified: boolean;
  readonly disabled: boolean;
  readonly disabled_until: string | null;
  readonly disabled_reason: string | null;
  readonly deletion_at: string | null;
  readonly locked_until: string | null;
  readonly has_password: boolean;
  readonly totp: boolean;
  readonly passkeys: number;
  readonly sessions: number;
  readonly password_change_required: boolean;
}

export interface Role {
  readonly id: number;
  readonly name: string;
  /** A role of the manifest. */
  readonly is_system: boolean;
  readonly permissions: readonly string[];
  /** Permissions that `console.roles` gives to the role in addition. */
  readonly application_permissions: readonly string[];
  readonly users: number;
}

export interface Session {
  readonly id: string;
  readonly name: string | null;
  readonly client: string | null;
  readonly created_at: string;
  readonly last_seen_at: string;
  readonly ip: string;
  readonly user_agent: string;
  readonly auth_method: string;
  readonly amr: readonly string[];
  readonly current: boolean;
  readonly impersonated_by: string | number | null;
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly user_id: string | number | null;
  readonly created_by: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
  readonly limit_per_min: number | null;
}

export interface SecurityEvent {
  readonly id: string;
  readonly type: string;
  readonly time: string;
  readonly severity: string;
  readonly user_id: string | number | null;
  readonly ip: string;
  readonly user_agent?: string;
  readonly request_id?: string;
  readonly actor?: { readonly kind: string; readonly id: string | number | null };
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface PermissionChange {
  readonly id: string;
  readonly time: string;
  readonly action: string;
  readonly actor_kind: string;
  readonly actor_id: string | null;
  readonly target_kind: string;
  readonly target_id: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly ip: string;
}

/** Whether the caller holds each of these. The server refuses to change a user who holds more. */
export const holdsAll = (permissions: readonly string[] = []): boolean => permissions.every(can);

/** Whether the caller may change this user. */
export const mayChange = (user: Pick<User, 'permissions'>): boolean =>
  can('auth:manage') && holdsAll(user.permissions);

/** Everything that a role gives. */
export const rightsOf = (role: Role): readonly string[] => [
  ...role.permissions,
  ...role.application_permissions,
];

export const fullName = ({ first_name, last_name }: User): string =>
  [first_name, last_name].filter(Boolean).join(' ');

/** @example counted(1, 'session') // '1 session' */
export const counted = (n: number, one: 'session' | 'API key' | 'passkey' | 'user'): string =>
  t(n === 1 ? `{n} ${one}` : `{n} ${one}s`, { n: formatNumber(n) });
