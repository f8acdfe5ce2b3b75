import type { Memberships } from '../model/access.ts';
import type { Data, Shape } from './shape.ts';

/**
 * A section of the manifest that belongs to a capability. A present section enables it, even if it
 * is empty.
 */
export interface Section {
  /** Its key at the top of the manifest, or in the section `within`. */
  readonly name: string;
  readonly within?: string;
  readonly schema: Shape;
  /** Definitions that `schema` references, in addition to the shared ones. */
  readonly definitions?: Readonly<Record<string, Shape>>;
  /**
   * Keys that users look for here although they are settings of the environment: path below the
   * section → name of the setting.
   */
  readonly settings?: Readonly<Record<string, string>>;
  /** Keys whose values look like secrets but are not. */
  readonly notSecret?: readonly string[];
  /** Adds defaults that depend on written values, such as those of a profile. */
  withDefaults?(written: Data): Data;
  /** The setting of the environment for a secret at this path. Keys are in lower case. */
  settingFor?(path: readonly string[]): string | undefined;
  /** The sign-in settings, if this section enables sign-in. */
  signIn?(values: unknown): SignIn;
  /** Trusted proxies in addition to `server.trusted_proxies`. */
  trustedProxies?(values: unknown): readonly string[];
}

/** The sign-in settings that `@auth` and the inference need. */
export interface SignIn {
  /** The user type, if the manifest names one. */
  readonly user?: string;
  /** The names of the roles; absent without roles. */
  readonly roles?: readonly string[];
  /** The role that holds everything, if there is one. */
  readonly first?: string;
  /** The paths of the values of a token; absent when the manifest does not name them. */
  readonly claims?: readonly string[];
  /** Organizations; absent without them. */
  readonly tenancy?: Tenancy;
}

/** The settings of organizations, and how users belong to them. */
export interface Tenancy {
  /** The entity whose rows are the organizations. */
  readonly type: string;
  /** The roles in an organization, the highest first. */
  readonly roles: readonly string[];
  /** The roles that may change the organization and its members. */
  readonly manage: readonly string[];
  /** Who may create an organization. */
  readonly create: 'user' | 'admin';
  readonly members: Memberships;
}
