/**
 * Does a piece of work for each item, side by side up to `most` and begun in order; answers in order.
 *
 * T1 Each gets a promise that settles when the one before it has answered: what has to stay in order waits for that.
 * T2 After one that failed none is begun; the failure is told once all that were begun have answered.
 *
 * @throws what the first of those that failed threw, in their order
 */
export async function inStep<T, R>(
  items: Iterable<T>,
  most: number,
  work: (item: T, before: Promise<void>) => Promise<R>,
): Promise<readonly R[]> {
  const answers: Promise<R>[] = [];
  const underWay = new Set<Promise<void>>();
  let before = Promise.resolve();
  let isFailed = false;
  for (const item of items) {
    const answer = work(item, before); // T1
    answers.push(answer);
    const over: Promise<void> = answer.then(
      () => void underWay.delete(over),
      () => {
        isFailed = true;
        underWay.delete(over);
      },
    );
    underWay.add(over);
    before = over;
    if (underWay.size >= most) await Promise.race(underWay);
    if (isFailed) break; // T2
  }
  await Promise.all(underWay);
  return Promise.all(answers);
}
