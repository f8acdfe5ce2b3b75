import type { ComponentChildren } from 'preact';

/** A drawing of 16 by 16 pixels in the colour of the text, hidden from screen readers. */
export function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg class="icon-drawing" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {children}
    </svg>
  );
}

const drawing = (path: string) => () => (
  <Icon>
    <path d={path} />
  </Icon>
);

export const CloseIcon = drawing('M4 4l8 8M12 4l-8 8');
export const SearchIcon = drawing('M10.5 10.5L14 14M2.5 7a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0');
export const MenuIcon = drawing('M2.5 4.5h11M2.5 8h11M2.5 11.5h11');
export const ChevronIcon = drawing('M4.5 6.5L8 10l3.5-3.5');
export const AlertIcon = drawing('M8 2L14.5 13.5H1.5zM8 6.5v3.2M8 11.5v.3');

/** The drawings of the pages' icons, by the id of the page. */
const DRAWINGS: Readonly<Record<string, string>> = {
  overview: 'M2 8h2.5L6.5 3l3 10L11.5 8H14',
  data: 'M2.5 3.5h11v9h-11zM2.5 6.5h11M6.5 6.5v6',
  graphql: 'M8 2l5.2 3v6L8 14l-5.2-3V5zM8 2L3 11h10z',
  users: 'M8 8a2.6 2.6 0 1 0 0-5.2A2.6 2.6 0 0 0 8 8zM3 13.5c.4-2.6 2.4-4 5-4s4.6 1.4 5 4',
  apps: 'M8 2l5.5 2.8v6.4L8 14l-5.5-2.8V4.8zM2.5 4.8L8 7.6l5.5-2.8M8 7.6V14',
  models: 'M8 2.5l1.5 4 4 1.5-4 1.5-1.5 4-1.5-4-4-1.5 4-1.5z',
  logs: 'M3 4h10M3 8h7M3 12h9',
  jobs: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.2 1.6',
  webhooks:
    'M6.5 3.5H4a2 2 0 0 0-2 2v6a2 2 0 0 0 2 2h6a2 2 0 0 0 2-2V9.5M9 2.5h4.5V7M13.5 2.5L7.5 8.5',
  schema: 'M6 2.5h4v3H6zM2 10.5h4v3H2zM10 10.5h4v3h-4zM8 5.5V8M4 10.5V8h8v2.5',
  audit: 'M8 2l5 2v3.8c0 3-2 5-5 6.2-3-1.2-5-3.2-5-6.2V4zM5.8 8l1.6 1.6 2.9-3',
  settings:
    'M2.5 5h6M12 5h1.5M2.5 11H4M7.5 11h6M10.2 6.7a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM5.8 12.7a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4z',
};

const OWN = 'M3.5 2.5h6l3 3v8h-9zM9.5 2.5v3h3';

/** The icon of a page; pages of one's own share one. */
export function PageIcon({ id }: { id: string }) {
  return (
    <Icon>
      <path d={Object.hasOwn(DRAWINGS, id) ? DRAWINGS[id] : OWN} />
    </Icon>
  );
}
