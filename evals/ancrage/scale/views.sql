-- The rows of `ancrage export`, over every run at once, out of the files themselves. The tables
-- `_runs` and `_modes` and the variables `outputs`, `scores` and `cases` (lists of files) are made
-- by query.py. A line that cannot be read has no case_id.

create view _cases as
select filename as cases_file, id as case_id, study_id, input.question as question,
    provenance.model as model, provenance.time as time
from read_json(getvariable('cases'), format = 'newline_delimited', ignore_errors = true,
    filename = true, maximum_object_size = 268435456,
    columns = {
        id: 'VARCHAR', study_id: 'VARCHAR', input: 'STRUCT(question VARCHAR)',
        provenance: 'STRUCT(model VARCHAR, time TIMESTAMP)'
    });

create view _output_lines as
from read_json(getvariable('outputs'), format = 'newline_delimited', ignore_errors = true,
    filename = true, maximum_object_size = 268435456,
    columns = {
        case_id: 'VARCHAR', state: 'VARCHAR', reason: 'VARCHAR', answer: 'STRUCT(text VARCHAR)',
        usage: 'STRUCT(input_tokens BIGINT, output_tokens BIGINT)'
    });

create view _score_lines as
from read_json(getvariable('scores'), format = 'newline_delimited', ignore_errors = true,
    filename = true, maximum_object_size = 268435456,
    columns = {
        case_id: 'VARCHAR',
        evaluations: 'STRUCT(
            evaluator VARCHAR,
            "version" VARCHAR,
            scores STRUCT("name" VARCHAR, "value" DOUBLE, state VARCHAR, reason VARCHAR)[],
            findings STRUCT(
                "mode" VARCHAR, evidence STRUCT("text" VARCHAR, "start" BIGINT, "end" BIGINT),
                explanation VARCHAR, source_id VARCHAR, source_passage STRUCT("text" VARCHAR),
                tier VARCHAR, details STRUCT(diagnosis VARCHAR)
            )[]
        )[]',
        anchors: 'STRUCT(
            citations BIGINT,
            quotes STRUCT(
                evidence STRUCT("text" VARCHAR, "start" BIGINT, "end" BIGINT), cited VARCHAR[],
                "rule" VARCHAR, tier VARCHAR, diagnosis VARCHAR, "language" VARCHAR,
                source_id VARCHAR, source_language VARCHAR, source_passage STRUCT("text" VARCHAR)
            )[]
        )'
    });

-- Of each case the last line counts: keys and places alone, so that memory holds no answer.
create table _output_places as
select filename, case_id, max(line) as line, count(*) as times
from (select filename, case_id, row_number() over () as line from _output_lines)
group by all;

create table _score_places as
select filename, case_id, max(line) as line, count(*) as times
from (select filename, case_id, row_number() over () as line from _score_lines)
group by all;

create view _outputs as
select r.run, o.*
from (select *, row_number() over () as line from _output_lines) o
join _runs r on r.outputs = o.filename
semi join _output_places p on p.filename = o.filename and p.case_id = o.case_id and p.line = o.line;

create view _scored as
select s.*
from (select *, row_number() over () as line from _score_lines) s
semi join _score_places p on p.filename = s.filename and p.case_id = s.case_id and p.line = s.line;

create view _evaluations as
select f.run, s.filename, s.case_id, c.study_id, unnest(s.evaluations) as evaluation
from _scored s
join (select distinct run, file from _modes) f on f.file = s.filename
join _runs r on r.run = f.run
left join _cases c on c.cases_file = r.cases_file and c.case_id = s.case_id;

-- Of the scorings that count, the last one that says how the answer was read.
create view _anchors as
select m.run, s.case_id, max_by(s.anchors, m.place) as anchors
from _scored s join (select distinct run, file, place from _modes) m on m.file = s.filename
where s.anchors is not null
group by all;

create view _scores as
select e.run, e.case_id, e.study_id, e.score.name as mode,
    coalesce(e.score.state, 'scored') as state, e.score.value as value, e.score.reason as reason,
    e.evaluation.evaluator as evaluator, e.evaluation.version as version
from (select *, unnest(evaluation.scores) as score from _evaluations) e
semi join _modes m
    on m.file = e.filename and m.evaluator = e.evaluation.evaluator and m.mode = e.score.name
union all
select o.run, o.case_id, c.study_id, m.mode, 'unscored', null,
    'scoring ' || m.scoring || ' did not come to it', m.evaluator, m.version
from _outputs o
join _modes m on m.run = o.run
join _runs r on r.run = o.run
left join _cases c on c.cases_file = r.cases_file and c.case_id = o.case_id
anti join _scored s on s.filename = m.file and s.case_id = o.case_id;

create view _findings as
select e.run, e.case_id, e.study_id, e.finding.mode as mode, e.finding.evidence.text as passage,
    e.finding.evidence.start as start, e.finding.evidence.end as "end", e.finding.tier as tier,
    e.finding.details.diagnosis as diagnosis, e.finding.explanation as explanation,
    e.finding.source_id as source_id, e.finding.source_passage.text as source_passage
from (select *, unnest(evaluation.findings) as finding from _evaluations) e
semi join _modes m
    on m.file = e.filename and m.evaluator = e.evaluation.evaluator and m.mode = e.finding.mode;

create view _quotes as
select q.run, q.case_id, c.study_id, q.quote.evidence.text as quote,
    q.quote.evidence.start as start, q.quote.evidence.end as "end",
    array_to_string(coalesce(q.quote.cited, []), ', ') as cited, q.quote.rule as rule,
    q.quote.tier as tier, q.quote.diagnosis as diagnosis, q.quote.language as language,
    q.quote.source_id as source_id, q.quote.source_language as source_language,
    q.quote.source_passage.text as source_passage
from (select run, case_id, unnest(anchors.quotes) as quote from _anchors) q
join _runs r on r.run = q.run
left join _cases c on c.cases_file = r.cases_file and c.case_id = q.case_id;

create view _answers as
select run, case_id, c.study_id, coalesce(o.state, 'not_run') as state,
    case when o.state is null then getvariable('not_run') else o.reason end as reason,
    c.question, o.answer.text as answer, c.model, c.time, coalesce(f.findings, 0) as findings,
    case when a.anchors is not null then coalesce(a.anchors.citations, 0) end as citations,
    case when a.anchors is not null then len(coalesce(a.anchors.quotes, [])) end as quotes,
    case when a.anchors is not null
        then len(list_filter(coalesce(a.anchors.quotes, []), lambda q: q.tier is not null))
    end as quotes_held,
    o.usage.input_tokens as input_tokens, o.usage.output_tokens as output_tokens
from (select r.run, c.* from _runs r join _cases c using (cases_file) where c.case_id is not null) c
full join _outputs o using (run, case_id)
left join _anchors a using (run, case_id)
left join (select run, case_id, count(*) as findings from _findings group by all) f
    using (run, case_id);
