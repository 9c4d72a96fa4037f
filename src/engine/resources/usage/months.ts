import type { WorldReader } from "../../state/transaction.ts";

/**
 * Spending is kept by month relative to the calendar month of the sandbox's origin (0; the one before
 * it is -1), because one fixture's records serve sandboxes that begin in any month.
 */
export function currentMonth(world: WorldReader): number {
  return monthIndex(world.absolute(world.now)) - originIndex(world);
}

/** @param month 1 to 12 */
export function monthOf(world: WorldReader, year: number, month: number): number {
  return year * 12 + (month - 1) - originIndex(world);
}

/** UTC calendar year and month (1 to 12) of a relative month. */
export function calendarOf(world: WorldReader, month: number): { year: number; month: number } {
  const index = month + originIndex(world);
  return { year: Math.floor(index / 12), month: (((index % 12) + 12) % 12) + 1 };
}

/** The instant at which a relative month begins. */
export function monthStart(world: WorldReader, month: number): number {
  const { year, month: ofYear } = calendarOf(world, month);
  // Not `Date.UTC(year, …)`, to which a year below 100 is one of the twentieth century.
  return world.relative(new Date(0).setUTCFullYear(year, ofYear - 1, 1));
}

/** `2026-03`, as state calls show and take it. */
export function monthText(world: WorldReader, offset: number): string {
  const { year, month } = calendarOf(world, offset);
  return `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}`;
}

export function parseMonth(world: WorldReader, text: string): number {
  const [year, month] = text.split("-").map(Number) as [number, number];
  return monthOf(world, year, month);
}

function originIndex(world: WorldReader): number {
  return monthIndex(world.absolute(0));
}

function monthIndex(epochMilliseconds: number): number {
  const date = new Date(epochMilliseconds);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}
