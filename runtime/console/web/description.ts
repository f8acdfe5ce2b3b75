import { signal } from '@preact/signals';
import type { Description } from '../flows/description.ts';

export type { Description };

/**
 * The description of the server and of the signed-in user; null before the server's first answer.
 */
export const description = signal<Description | null>(null);
