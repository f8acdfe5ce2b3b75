import type { AppVolume } from '../records/app.ts';

/** One setting of a template. `generate`: so many random characters when the caller gives none. */
export interface TemplateEnv {
  readonly key: string;
  readonly description: string;
  readonly secret: boolean;
  /** `{{domain}}`, `{{url}}` and `{{name}}` are filled in. */
  readonly default?: string;
  readonly generate?: number;
  readonly required?: boolean;
}

/** An app that is ready to deploy. The image's tag is pinned: a template never means another program tomorrow. */
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
}
