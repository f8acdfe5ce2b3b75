import type { AppVolume } from '../records/app.ts';

/**
 * One environment variable of a template. `generate` is the number of random characters when the
 * caller gives no value.
 */
export interface TemplateEnv {
  readonly key: string;
  readonly description: string;
  readonly secret: boolean;
  /** `{{domain}}`, `{{url}}` and `{{name}}` are replaced. */
  readonly default?: string;
  readonly generate?: number;
  readonly required?: boolean;
}

/** How the data of a database is printed while it serves, and read again. */
export interface TemplateBackup {
  readonly dump: readonly string[];
  readonly restore: readonly string[];
}

/**
 * An app that is ready to deploy. The image has a fixed tag, so that a template always deploys the
 * same program.
 */
export interface Template {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly image: string;
  readonly port: number;
  readonly env: readonly TemplateEnv[];
  readonly volumes: readonly AppVolume[];
  readonly command?: readonly string[];
  readonly backup?: TemplateBackup;
}
