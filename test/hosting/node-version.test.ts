import { expect, it } from 'vitest';
import { nodeMajor } from '../../runtime/hosting/source/generate-node.ts';

const SAID: readonly (readonly [string, number])[] = [
  ['', 24],
  ['>=12', 24],
  ['lts/hydrogen', 18],
  ['lts/*', 24],
  ['14 || 16', 16],
  ['v18.20.4\n', 18],
  ['20', 20],
  ['^22.1.0', 22],
  ['~16.3', 16],
  ['18.x', 18],
  ['>=18 <21', 20],
  ['>= 18.0.0 < 20.0.0', 18],
  ['>18', 24],
  ['<20', 18],
  ['<=20', 20],
  ['16 - 20', 20],
  ['^18 || ^20 || >=22', 24],
  ['23', 23],
  ['*', 24],
  ['node', 24],
];

it.each(SAID)('%j is Node.js %i', (text, major) => {
  expect(nodeMajor(text)).toBe(major);
});
