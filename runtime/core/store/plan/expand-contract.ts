import type { FoundStep } from './plan-step.ts';

/**
 * Advice for a step on which servers of the previous release would fail: what to do instead,
 * release by release. Null when there is no other way.
 */
export function expandAndContract({
  does,
  object,
}: Pick<FoundStep, 'does' | 'object'>): string | null {
  const isTable = !object.includes('.');
  const it = isTable ? 'type' : 'field';
  const steps = STEPS[does]?.({ object, it });
  return steps
    ? `without downtime: ${steps.map((each, at) => `release ${at + 1}: ${each}`).join('; ')}`
    : null;
}

interface Words {
  readonly object: string;
  readonly it: string;
}

const STEPS: Readonly<Partial<Record<FoundStep['does'], (words: Words) => readonly string[]>>> = {
  rename: ({ object, it }) => [
    `add a ${it} of the new name beside ${object}, and write both`,
    `copy the rows over (migrate new), and read the new one`,
    `drop ${object} (--allow-drop)`,
  ],
  drop: ({ object, it }) => [
    `take the ${it} out of the schema; the database keeps ${object}`,
    `drop it (--allow-drop ${object}), when no server of the release before runs any more`,
  ],
  add: ({ object }) => [
    `add ${object} without "!" or with a @default`,
    `fill the rows that have none (migrate new), and make it required`,
  ],
  require: ({ object }) => [
    `write ${object} always, and fill the rows that have none (migrate new)`,
    `make it required`,
  ],
  type: ({ object }) => [
    `add a field of the new type beside ${object}, and write both`,
    `copy the values over (migrate new), and read the new one`,
    `drop ${object} (--allow-drop)`,
  ],
  value: ({ object }) => [
    `add the new value beside the old one, and write the new one`,
    `rename the rest of ${object} (@renamed), and take the old value out`,
  ],
};
