import { readFile } from 'node:fs/promises';

const DESIGN = new URL('./design.css', import.meta.url);

/** The style sheet with the type, colours and shapes that all pages share. */
export const readDesign = () => readFile(DESIGN, 'utf8');
