import { type ReactNode, type RefObject, useEffect, useMemo, useRef } from "react";
import {
  Button,
  type DragAndDropHooks,
  type DropTarget,
  ListLayout,
  Tree,
  TreeItem,
  TreeItemContent,
  useDragAndDrop,
  Virtualizer,
} from "react-aria-components";
import { counted } from "../../parts/counted.ts";
import type { Branch, Department, Move } from "./department-tree.ts";

const ROW_HEIGHT = 36;

interface DepartmentTreeProps {
  tree: readonly Branch[];
  departments: readonly Department[];
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
  onMove: (move: Move) => void;
  empty: ReactNode;
}

/** Dragged by the mouse, or by the keyboard: Enter on the handle, Tab to where it shall be, Enter. */
export function DepartmentTree({
  tree,
  departments,
  selected,
  onSelect,
  onMove,
  empty,
}: DepartmentTreeProps) {
  const hooks = useMoves(departments, onMove);
  const expanded = useMemo(() => departments.map(({ id }) => id), [departments]);
  const scroller = useRef<HTMLDivElement>(null);
  useShown(scroller, tree, selected);
  if (tree.length === 0) return empty;
  return (
    <Virtualizer layout={ListLayout} layoutOptions={{ rowHeight: ROW_HEIGHT }}>
      <Tree
        // Departments that come later are shown open too.
        key={expanded.length}
        ref={scroller}
        className="tree"
        aria-label="Departments"
        items={tree}
        defaultExpandedKeys={expanded}
        selectionMode="single"
        selectedKeys={selected === undefined ? [] : [selected]}
        onSelectionChange={(keys) => onSelect(keys === "all" ? undefined : [...keys].map(String)[0])}
        dragAndDropHooks={hooks}
      >
        {drawBranch}
      </Tree>
    </Virtualizer>
  );
}

/** What an address chooses is scrolled to, once it is there: the list of react-aria scrolls to what is focused alone. */
function useShown(
  scroller: RefObject<HTMLDivElement | null>,
  tree: readonly Branch[],
  selected: string | undefined,
): void {
  const shown = useRef<string>(undefined);
  useEffect(() => {
    const element = scroller.current;
    if (element === null || selected === shown.current) return;
    const at = inOrder(tree).findIndex(({ id }) => id === selected);
    if (at < 0) return;
    const top = at * ROW_HEIGHT;
    // Before the list has its height, there is nothing to scroll.
    const watch = new ResizeObserver(() => {
      const { scrollTop, clientHeight, scrollHeight } = element;
      if (scrollHeight < top + ROW_HEIGHT) return;
      watch.disconnect();
      shown.current = selected;
      if (top + ROW_HEIGHT > scrollTop + clientHeight || top < scrollTop)
        element.scrollTop = top - clientHeight / 2;
    });
    watch.observe(element.firstElementChild ?? element);
    return () => watch.disconnect();
  }, [scroller, tree, selected]);
}

function inOrder(tree: readonly Branch[]): Department[] {
  return tree.flatMap(({ department, children }) => [department, ...inOrder(children)]);
}

function drawBranch({ department, children }: Branch) {
  const { id, name, member_count, color, is_active } = department;
  return (
    <TreeItem key={id} id={id} textValue={name} className="branch">
      <TreeItemContent>
        {({ hasChildItems, isExpanded, level }) => (
          <div className="branch-line" style={{ paddingLeft: `${(level - 1) * 1.4}rem` }}>
            <Button slot="drag" className="drag" aria-label={`Move ${name}`}>
              ⠿
            </Button>
            {hasChildItems ? (
              <Button slot="chevron" className="chevron">
                {isExpanded ? "▾" : "▸"}
              </Button>
            ) : (
              <span className="chevron" />
            )}
            {color && <span className="swatch" style={{ background: color }} aria-hidden="true" />}
            <span className="clip">{name}</span>
            {!is_active && <span className="quiet">inactive</span>}
            <code className="quiet clip branch-id">{id}</code>
            <span className="quiet branch-count">{counted(member_count, "member")}</span>
          </div>
        )}
      </TreeItemContent>
      {children.map(drawBranch)}
    </TreeItem>
  );
}

/** A department is dropped on another, or beside all of them, which makes it top-level. */
function useMoves(departments: readonly Department[], onMove: (move: Move) => void): DragAndDropHooks {
  const dragged = useRef<string>(undefined);
  const { dragAndDropHooks } = useDragAndDrop({
    getItems: (keys) => [...keys].map((key) => ({ "text/plain": String(key) })),
    onDragStart: ({ keys }) => {
      dragged.current = String([...keys][0]);
    },
    getDropOperation: (target) => (isParent(target) ? "move" : "cancel"),
    onDrop: ({ target }) => {
      const department = departments.find(({ id }) => id === dragged.current);
      const parent = target.type === "root" ? null : departments.find(({ id }) => id === target.key);
      if (department && parent !== undefined) onMove({ department, parent });
    },
  });
  return dragAndDropHooks && letServerJudge(dragAndDropHooks);
}

const isParent = (target: DropTarget) => target.type === "root" || target.dropPosition === "on";

/**
 * react-aria lets nothing be dropped on what is below it, as long as it knows that both are of one tree. Here the
 * service judges: its refusal of a cycle is what there is to see.
 */
function letServerJudge(hooks: DragAndDropHooks): DragAndDropHooks {
  const { useDroppableCollectionState: useState } = hooks;
  if (useState === undefined) return hooks;
  return {
    ...hooks,
    useDroppableCollectionState(props) {
      const state = useState(props);
      return {
        ...state,
        getDropOperation: (event) => {
          const itself = event.target.type === "item" && event.draggingKeys.has(event.target.key);
          return itself ? "cancel" : state.getDropOperation({ ...event, isInternal: false });
        },
      };
    },
  };
}
