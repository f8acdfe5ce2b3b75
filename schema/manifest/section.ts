import type { Shape } from './shape.ts';

type Data = Readonly<Record<string, unknown>>;

/**
 * A section that a capability adds to the manifest. Present, even empty, it switches the capability
 * on.
 */
export interface Section {
  /** Its key: at the top, or in the section `within`. */
  readonly name: string;
  readonly within?: string;
  readonly schema: Shape;
  /** Definitions that `schema` refers to, besides the shared ones. */
  readonly definitions?: Readonly<Record<string, Shape>>;
  /**
   * Where keys belong that people look for here: path below the section → setting in the
   * environment.
   */
  readonly settings?: Readonly<Record<string, string>>;
  /** Keys whose values look like secrets and are none. */
  readonly notSecret?: readonly string[];
  /** Lays what other values imply under what is written: the defaults of a profile. */
  withDefaults?(written: Data): Data;
  /**
   * The setting in the environment that a secret at this path belongs to. Keys are in lower case.
   */
  settingFor?(path: readonly string[]): string | undefined;
  /** How people sign in, where the section says so. */
  signIn?(values: unknown): SignIn;
  /** Further proxies beside `server.trusted_proxies`. */
  trustedProxies?(values: unknown): readonly string[];
}

/** What `@auth` and the inferences need to know of the people who sign in. */
export interface SignIn {
  /** The type that is a user, where the manifest names one. */
  readonly user?: string;
  /** The roles there are; absent without roles. */
  readonly roles?: readonly string[];
}
