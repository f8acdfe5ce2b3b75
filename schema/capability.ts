import type { Facts } from './build/facts.ts';
import type { Project } from './model.ts';
import type { RouteSpec } from './routes/route.ts';
import type { Rule } from './rules/finding.ts';

/** What this layer has to know of a capability. Each has a folder of this name in every layer. */
export interface CapabilitySpec {
  /** The key of its section in the manifest, too. */
  readonly name: string;
  /** The package that a project installs for it. */
  readonly package: string;
  /** Whether a project asks for it. */
  isWanted(project: Project): boolean;
  /** Whether people sign in by it. */
  signsIn?(project: Project): boolean;
  /**
   * Its model, for a capability with a section at the top of the manifest; null where that is
   * switched off.
   */
  build?(facts: Facts): unknown;
  /**
   * Its rules about the schema and about the manifest. They judge every project, whether it wants
   * the capability or not.
   */
  readonly schemaRules?: readonly Rule[];
  readonly manifestRules?: readonly Rule[];
  /** Every route that it may add to a server. */
  readonly routes: readonly RouteSpec[];
  /** Which of them a project has, if not all. */
  isServed?(route: RouteSpec, project: Project): boolean;
}
