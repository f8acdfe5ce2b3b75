/** The two shapes in which every server is measured, and what the second one has more than the first. */
import { SDL } from './workloads.ts';

/**
 * `bare`: GraphQL and nothing else. `asRun`: as users run it, with sign-in, one middleware and one CORS origin.
 */
export type Shape = 'asRun' | 'bare';

export const SHAPES: readonly Shape[] = ['asRun', 'bare'];

export const SHAPE_TITLES: Readonly<Record<Shape, string>> = {
  asRun: 'as users run it',
  bare: 'bare',
};

/** The origin of the page that asks. */
export const ORIGIN = 'https://app.example';

/** What the one middleware writes into the head of each answer. */
export const HEADER = 'x-served-by';
export const HEADER_VALUE = 'bench';

export interface Declared {
  readonly sdl: string;
  readonly manifest?: string;
}

/**
 * Rate limits stay on, as they do in production; only their numbers are such that nothing is refused. Their windows
 * are those of the defaults, so that leases are renewed as often.
 */
const MANIFEST = `name: bench
server: { cors: ["${ORIGIN}"] }
auth:
  register: { fields: [name] }
  rate_limits: { global-ip: 10000000/1m, user: 10000000/1m }
`;

/** The schema of this server. Any signed-in user may read an email, because the peers check no more than the sign-in. */
export const DECLARED: Readonly<Record<Shape, Declared>> = {
  asRun: {
    sdl: SDL.replace('  email: String!\n', '  email: String! @unique @auth(allow: [USER])\n'),
    manifest: MANIFEST,
  },
  bare: { sdl: SDL },
};
