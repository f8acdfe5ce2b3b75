import type { Facts } from './build/facts.ts';
import type { Project, When } from './model.ts';
import type { RouteSpec } from './routes/route.ts';
import type { Rule } from './rules/finding.ts';

/** A part of the core that only some capabilities need. */
export type CorePart = 'audit' | 'jobs';

/**
 * The part of a capability in this layer. Each capability has a folder of its name in every layer.
 */
export interface CapabilitySpec {
  /** Also the key of its section in the manifest. */
  readonly name: string;
  /** The package that a project with this capability installs. */
  readonly package: string;
  /** Whether a project uses it. */
  isWanted(project: Project): boolean;
  /**
   * Whether a server in production needs its package; if absent, yes. Otherwise it starts without.
   */
  inProduction?(project: Project): boolean;
  /** Whether it makes users sign in. */
  signsIn?(project: Project): boolean;
  /** Parts of the core that the capability needs: the log of changes, the routes of jobs. */
  opens?(project: Project): readonly CorePart[];
  /**
   * Builds its model, for a capability with a section at the top of the manifest; null if that is
   * disabled.
   */
  build?(facts: Facts): unknown;
  /**
   * The model of its section where the manifest sets nothing: the values that code of an older
   * generator lacks. Undefined for a project without the section.
   */
  defaults?(project: Project): object | undefined;
  /**
   * Its rules about the schema and about the manifest. They check every project, with or without
   * the capability.
   */
  readonly schemaRules?: readonly Rule[];
  readonly manifestRules?: readonly Rule[];
  /** When the server has `/api/data`, which reaches every row; never when absent. */
  adminData?(project: Project): When;
  /** Every route that it may add to a server. */
  readonly routes: readonly RouteSpec[];
  /** Whether a project serves the route; all routes if absent. */
  isServed?(route: RouteSpec, project: Project): boolean;
}
